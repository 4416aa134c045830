"""Word lists of English that several packages read: closed classes, abbreviations, starters.

Each class is defined here once. A module that needs a part of a class or a little more derives it
(``RELATIVES - {"that"}``), so that the difference is visible where it matters.
"""

import re


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set.

    >>> sorted(words("who whom which"))
    ['which', 'who', 'whom']
    """
    return frozenset(text.split())


def phrases(text: str) -> frozenset[tuple[str, ...]]:
    """The phrases of a text, as a set of tuples of words; " / " separates them.

    >>> sorted(phrases("as soon as / because"))
    [('as', 'soon', 'as'), ('because',)]
    """
    return frozenset(tuple(phrase.split()) for phrase in text.split(" / "))


# Determiners and pronouns

ARTICLES = words("a an the")
DEMONSTRATIVES = words("this that these those")
RELATIVES = words("who whom whose which that")

PRONOUN_FORMS = {
    "i": words("i me my mine myself"),
    "we": words("we us our ours ourselves"),
    "you": words("you your yours yourself yourselves"),
    "he": words("he him his himself"),
    "she": words("she her hers herself"),
    "it": words("it its itself"),
    "they": words("they them their theirs themselves"),
}
"""The personal pronouns with all their forms."""

THIRD_PERSON = words("he she it they")

# Verbs

BE = words("am is are was were")
"""The finite forms of "to be"."""

MODALS = words("shall should will would can could may might must")

# Conjunctions and negations

COORDINATORS = words("and or but nor so yet")

SUBORDINATORS = words(
    "because although though while whilst since if unless when whenever where wherever after "
    "before until till as whereby whereupon"
)
"""Words that open a clause which cannot stand alone ("whereas" opens the recitals of contracts)."""

NEGATIVE_ADVERBS = words("not n't never")
NEGATIONS = NEGATIVE_ADVERBS | words("no nor neither none nobody nothing nowhere without")

# Numbers and dates

_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
CARDINALS = {word: value for value, word in enumerate(_CARDINALS.split())}

MONTHS = words(
    "january february march april may june july august september october november december"
)
WEEKDAYS = words("monday tuesday wednesday thursday friday saturday sunday")

# Abbreviations that end in a full stop, by what may follow the stop. They are spelt as they are
# written inside a sentence, without the stop. Dotted letters ("U.S.", "p.m.") and initials are
# recognised by their form and not listed.

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
"""Words that start sentences and are rarely part of a name, spelt as they start a sentence: before
them a full stop after an abbreviation ends the sentence."""

# Telling English from other languages

_ONLY_ENGLISH = words("""
    the and to that it with his by this not are from have they which you were she there would their
    been when who more if out said what its about into than them can only
    other some could these then any such our must shall may should through where how your being
""")
"""Frequent words that are rare in other languages."""
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000
"""Characters that are enough to tell."""
_FEWEST_WORDS, _FEWEST_LETTERS = 20, 20
"""A shorter text is taken for English: a list of names may be in any language."""
_LEAST_SHARE = 0.04
"""In English prose about a fifth of the words are among those above."""


def looks_english(text: str) -> bool:
    """Whether a text looks like English by its frequent words and its letters; a short one does.

    >>> looks_english("Der Verkäufer, der die Ware im Mai bestellt hat, zahlt den Preis. " * 3)
    False
    """
    found = _WORD.findall(text[:_SAMPLE].lower())
    letters = sum(map(len, found))
    if letters >= _FEWEST_LETTERS and sum(map(str.isascii, "".join(found))) < letters / 2:
        return False
    if len(found) < _FEWEST_WORDS:
        return True
    return sum(word in _ONLY_ENGLISH for word in found) >= _LEAST_SHARE * len(found)
