"""English abbreviations that end in a stop, sorted by what usually follows them."""

__all__ = ["ABBREVIATIONS"]

ABBREVIATIONS = frozenset(
    """
    Mr Mrs Ms Dr Prof Rev Hon Gen Col Maj Capt Lt Sgt Cpl Gov Sen Rep Reps Sens Pres Messrs Mlle Mme
    St Ft Mt Jr Sr Esq Inc Corp Co Ltd Bros Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec
    Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun No Nos etc vs al approx ca cf Ph.D M.Sc B.Sc Attn
    Ave Blvd Rd Fla Calif Conn Mass vol Vol pp Art Ed ed eds Sec sec Fig fig Figs Eq
    """.split()
)
