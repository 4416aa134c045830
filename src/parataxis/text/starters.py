"""Words that start sentences and are rarely part of a name: evidence that a stop ended one."""

from parataxis.text.wordlists import words

__all__ = ["STARTERS"]


STARTERS = words("""
    The A An This That These Those It He She They We You I One There Here His Her Its Their Our My
    Your What Who Whom Whose Where When Why How Which While If Unless Until Although Though Because
    Since As After Before Once Whenever Whereas Whether In On At For From By With Without Within
    During Under Upon To Into Through Throughout Despite Between Among Against About Above Below
    According And But Or Nor So Yet Then Thus Hence Therefore However Moreover Furthermore
    Meanwhile Otherwise Instead Also Still Even Only Just Not No Yes Never Ever Now Today Later
    Soon Finally First Second Each Every All Any Some Many Most Both Several Few Such Another Other
    Others Neither Either None Nothing Nobody Everyone Everybody Someone Is Are Was Were Am Be Been
    Do Does Did Has Have Had Can Could Will Would Shall Should May Might Must Let Please Thank
    Thanks Notwithstanding Except Subject Provided Pursuant Two Three Four Five Six Seven Eight
    Nine Ten It's He's She's They're We're I'm I've I'll You're That's There's Don't Perhaps Maybe
    Sometimes Often Usually Recently Currently Additionally Similarly Likewise Consequently
    Nevertheless Nonetheless Accordingly Whereupon Given Based Using Compared See Note Well Oh Ah
    Ok Okay
""")
"""Spelt as they start a sentence."""
