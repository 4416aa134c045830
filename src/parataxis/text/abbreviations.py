"""English abbreviations that end in a stop, grouped by what may follow the stop.

The lists are spelt as they are written mid-sentence, without the final stop. Dotted letters
("U.S.", "p.m.") and initials are recognised by their form, not listed.
"""

from parataxis.text.wordlists import words

__all__ = ["ABBREVIATIONS", "BEFORE_NAME", "BEFORE_NUMBER", "MAY_END", "NEVER_END"]


BEFORE_NAME = words("""
    Mr Mrs Ms Mx Dr Prof Rev Fr Hon Gen Col Maj Capt Cmdr Cdr Adm Lt Sgt Cpl Pvt Gov Sen Rep Reps
    Sens Pres Supt Insp Messrs Mlle Mme St Ste Ft Mt Amb Atty Det Sra Srta Dra Mgr Msgr Drs Profs
    Brig
""")
"""Titles: a name follows, so the stop never ends a sentence."""

BEFORE_NUMBER = words("""
    No Nos Nr Sec Secs Sect Art Arts Fig Figs Eq Eqs Ch Chap Chs Vol Vols Par Para Paras Pt Cl Cls
    Reg Regs Ex Exh App Sched Tab Ref Refs Pp Ver Stat Cap Ext Tel Fax Ep
    no nos nr sec secs sect art arts fig figs eq eqs ch chap vol vols par para paras pt cl pp
    pg pgs ver ext tel fax ca approx fl
""")
"""Words that announce a number ("No. 5", "Sec. 5(a)", "p. 12"); elsewhere the stop is a stop."""

NEVER_END = words("""
    vs viz cf ed eds repr trans resp incl excl esp e.g i.e eg ie
    v Vs Viz Cf Eds E.g I.e Attn Cie P.S PS Ps Pvt PVT Int Gr Skr
""")
"""Words that need something after them, so the stop never ends a sentence."""

MAY_END = words("""
    Inc Corp Co Cos Ltd Bros Jr Sr Esq Assn Assoc Dept Univ Inst Intl Natl Mfg Plc Pty Lp LLC Sa
    Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Weds Thu Thur Thurs Fri Sat
    Sun Ave Blvd Rd Hwy Pkwy Ln Bldg Rm Ste Sq Ala Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan
    Ky La Mass Md Mich Minn Mo Mont Neb Nev Okla Ore Pa Penn Tenn Tex Va Vt Wash Wis Wyo Ont Que
    Ph.D M.Sc B.Sc Ed.D LL.B LL.M Hons Ed etc al ibid op cit seq est dept govt univ min mins max
    hr hrs sec secs ft in lb lbs oz sq yr yrs wk wks mo mos avg misc inc corp co ltd jr sr bros
    mi km cm mm kg mg ml tsp tbsp INC CORP CO LTD LLP JR SR MR MRS DR
""")
"""Words after which a sentence may go on or end; what follows decides."""

ABBREVIATIONS = BEFORE_NAME | BEFORE_NUMBER | NEVER_END | MAY_END
"""All of them: inside a sentence their stop is part of the token."""
