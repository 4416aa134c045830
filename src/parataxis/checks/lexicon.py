"""The word lists of the checks: which words are facts, and which may be inserted or replaced.

The insertable words are those that the references of the training set insert often (counted over
15,013 rewrites); docs/checks.md lists them. "Saves N references" means that without the list N of
the 1,648 split references of the development set would raise a false alarm.
"""

from parataxis.text import english
from parataxis.text.english import phrases, words

_CLOSED_CLASSES: frozenset[str] = english.BE.union(
    english.ARTICLES,
    english.DEMONSTRATIVES,
    english.RELATIVES,
    *english.PRONOUN_FORMS.values(),
    english.COORDINATORS,
    english.SUBORDINATORS - {"unless"},
)
FUNCTION_WORDS = _CLOSED_CLASSES | words(
    # determiners and pronouns
    "such same another other others own one ones what whatever whichever whoever whomever there "
    "here something someone somebody anything anyone anybody everything everyone everybody each "
    "both either any latter former "
    # prepositions and particles
    "of in on at by for with to from into onto upon as about between among amongst through during "
    "over up down out off away along around across against toward towards within than like via "
    "per plus due including together regarding concerning unlike despite spite "
    # conjunctions and links
    "whereas why how once whether lest thus hence therefore then also too well even rather "
    "instead however moreover furthermore besides meanwhile nevertheless nonetheless otherwise "
    "alternatively likewise similarly subsequently accordingly consequently afterwards "
    "thereafter thereby therein thereof thereon thereto thereupon therefrom thereunder wherein "
    "whereof whereon whereafter hereby herein hereof hereto hereunder respectively namely ie eg "
    "viz etc else ever whence given notwithstanding "
    # be, have, do
    "be been being 're 'm have has had having 've do does did done doing 's 'd "
    # contracts and letters that survive tokenising
    "s t lrb rrb lsb rsb"
)
"""Words that state no fact: they are never lost or new."""

LINK_PHRASES = phrases(
    "not only / not just / not before / not until / whether or not / only to / in which case / "
    "in that case / in this case / in such case / in the case of / in case of / in any case / "
    "in which event / given that / as follows / the following / in addition / in fact / "
    "the fact that / as a result / at the same time / for example / in order to / in turn / "
    "in particular / vice versa / as well as / rather than / such as / prior to / according to / "
    "compared to / compared with / provided however / at will"
)
"""Links of several words, which a rewrite may rephrase: none of their words is a fact. The list
saves 14 references."""

CONDITION_PHRASES = phrases(
    "save that / save where / save as / save for / save in / save to / save with / save if / "
    "provided that / as long as / so long as"
)
"""Conditions of several words; in these, "save" means "except" and "provided" means "if"."""

NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")

NEGATIVE_GROUNDS = english.NEGATIONS | words(
    "unless except excepting exception excepted excluding exclude save instead rather other "
    "unlike lack lacking fail failing refuse deny prohibit forbid prevent hardly barely scarcely "
    "seldom rarely avoid cease stop void notwithstanding despite neglect decline absent absence "
    "withhold"
)
"""Words that may become a negation ("unless" became "does not apply if"). Saves 9 references."""

MODALS = english.MODALS | words("ought 'll wo ca sha")

MODAL_GROUNDS = MODALS | words(
    "if unless event extent provided provide agree agrees agreed entitle entitled right rights "
    "require required requires subject obligation obligations undertake undertakes covenant "
    "covenants permit permitted allow allowed able possible likely whenever"
)
"""Words that may become a modal verb ("to the extent they possess"). Saves 4 references."""

CONDITIONS = words("if unless except provided save")

SAYING = words(
    "say claim allege report believe state announce argue think fear suggest deny testify "
    "represent warrant insist admit warn complain assert maintain contend estimate suspect predict "
    "expect concede confirm declare suppose assume doubt conclude write agree acknowledge"
)
"""Verbs whose content is somebody's word, by lemma."""

CONDITION_SUBSTITUTES = words(
    "exception exceptions excepting excepted excluding condition conditions conditional "
    "conditioned event case extent where when whenever whether should were had only not n't but "
    "however although though nevertheless apply applies whichever notwithstanding"
)
"""Words that may replace a condition or an exception ("does not apply where"). Saves 34
references."""

INSERTABLE = words(
    # time, cause, contrast, manner
    "time result reason reasons contrast addition purpose purposes aim way manner example examples "
    "event case year day date period place moment point turn order fact part foregoing according "
    "following first second two now later earlier again still long further part situation "
    "comparison contrary exception exceptions "
    # verbs that only carry a detail into a sentence of its own
    "apply occur happen take make include contain mean refer call name know become come go consist "
    "last follow concern continue remain give use set hold carry belong say state "
    # nouns and adjectives that refer back
    "obligation right person thing term type number group kind sum amount money above preceding "
    "respective certain all"
)
"""Content words, by lemma, that references insert to express a link or to refer back."""

# Without the verbs whose statement has an effect of its own or may be wrong.
REPLACED_BY = {
    **dict.fromkeys(
        SAYING - words("write agree expect predict doubt deny represent warrant"),
        words("according"),
    ),
    "failing": words("otherwise"),  # "failing which"
    **dict.fromkeys(  # "which means that"
        words("means meant meaning"), words("therefore thus hence consequently so")
    ),
}
"""By lemma or form, the links that may replace a word; each added link excuses one lost word."""

FINITE_FORMS = english.BE | english.MODALS | words("has had does did 's 're 'm 'll 'd")
"""Verb forms that are finite, whatever their tag."""

UNCHANGING_VERBS = words(
    "beat bet bid burst cast cost cut hit hurt let put quit read rid set shed shut split spread"
)
"""Verbs whose base form is also a past tense."""

NEVER_PREPOSITIONS = words("because although though whilst unless if")
"""Subordinators that are never prepositions."""

CONTRASTS = words("but however although though nevertheless")
"""Contrasts among the substitutes of conditions: they can replace an exception, not a condition."""

_CAUSE = words(
    "because therefore thus hence consequently accordingly so since as for due owing reason "
    "reasons result results cause caused causes why given thereby led this"
)
_CONTRAST = words(
    "although though but however yet despite nevertheless nonetheless still even while whilst "
    "whereas contrast instead rather spite regardless contrary albeit notwithstanding otherwise "
    "unlike conversely meanwhile only also reason except exception other"
)
_ORDER = words(
    "after afterwards before then later following subsequently once when since next having first "
    "thereafter thereupon upon earlier already ago previously prior until eventually finally "
    "preceding had"
)
CONNECTIVES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("because", "therefore", "thus", "hence", "consequently"), _CAUSE),
    **dict.fromkeys(("although", "though", "despite", "nevertheless", "whereas", "yet"), _CONTRAST),
    **dict.fromkeys(("but", "however"), _CONTRAST),
    **dict.fromkeys(("after", "before", "until"), _ORDER),
    "since": _CAUSE | _ORDER | {"from", "ever", "now"},
}
"""Links of cause, contrast and order, each with the words that can express it."""

WITH_CONDITIONS = words("only condition")
"""Words that may be inserted if the source has a condition: "applies only if". Saves 5
references."""

LIFE_DATES = words("born die live bear")
"""Words that may be inserted if the source has dates in brackets: "(1899-1963)". Saves 4
references."""

MASCULINE = words(
    "man men boy boys male father fathers son sons brother brothers husband husbands uncle nephew "
    "grandfather grandson king kings prince sultan lord sir mr"
)
FEMININE = words(
    "woman women girl girls female mother mothers daughter daughters sister sisters wife wives "
    "aunt niece grandmother granddaughter queen queens princess lady ladies miss mrs ms madam"
)
"""Words that tell a gender. Saves 3 references."""

_GENDERED_ENDINGS = (
    *("man", "men", "father", "mother", "enne", "trix", "tress", "dress", "chess", "ntess"),
    *("ddess", "hostess", "priestess", "heiress", "empress", "abbess", "governess", "baroness"),
)
_NO_GENDERED_ENDINGS = words(
    "abdomen acumen address buttress cayenne cayman chess distress dress fortress german germen "
    "headdress human layman lumen matrix mattress norman oman omen ottoman redress regimen roman "
    "shaman specimen stress talisman turkmen yemen"
)


def has_gendered_ending(word: str) -> bool:
    """Whether the ending of a word tells a gender.

    >>> [has_gendered_ending(word) for word in ("statesman", "actresses", "human", "business")]
    [True, True, False, False]
    """
    word = word.removesuffix("es")
    return word.endswith(_GENDERED_ENDINGS) and word not in _NO_GENDERED_ENDINGS


PERSONS = words(
    "person child baby friend student teacher leader clerk guard judge lawyer officer soldier "
    "president minister general captain chief king queen writer painter singer player worker "
    "farmer driver lender borrower tenant landlord employee employer customer owner manager "
    "member partner agent artist expert nurse pilot host guest witness candidate client patient "
    "team board committee company council court crew party staff family father mother son "
    "daughter brother sister wife husband boy girl prince princess bishop pope monk priest widow"
)
PERSON_ENDINGS = ("or", "ist", "ian", "eer", "man", "woman")
"""Nouns that "it" does not or may not stand for. Words and endings save 1 reference each."""

DATE_WORDS = (
    english.MONTHS
    | english.WEEKDAYS
    | words("jan feb mar apr jun jul aug sept sep oct nov dec century bc ad bce ce")
)

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = (
    "fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)

NUMBERS: dict[str, str] = {
    **{word: str(value) for word, value in english.CARDINALS.items()},
    **{word: str(10 * value) for value, word in enumerate(_TENS.split(), start=2)},
    **{word: f"{value}th" for value, word in enumerate(_ORDINALS.split(), start=4)},
    "third": "3rd",
    "twentieth": "20th",
    "hundred": "100",
    "thousand": "1000",
    "million": "million",
    "billion": "billion",
    "dozen": "12",
}
"""Number words and the digits that they are compared with."""

SIGNS: dict[str, frozenset[str]] = {
    "%": words("percent cent percentage"),
    "$": words("dollar dollars usd"),
    "£": words("pound pounds gbp sterling"),
    "€": words("euro euros eur"),
    "¥": words("yen yuan jpy cny"),
    "-": words("minus negative below"),
}
"""Signs that change what a number means, each with the words that can replace it."""

# Words that are derived from one another but do not share a stem. Saves 2 references.
IRREGULAR_DERIVATIONS = {
    word: frozenset(line.split())
    for line in (
        "die death dead",
        "bear birth born",
        "live life alive",
        "choose choice",
        "sell sale",
        "lose loss",
        "speak speech",
        "think thought",
        "give gift",
        "prove proof",
        "succeed success",
        "high height",
        "long length",
        "wide width",
        "deep depth",
        "strong strength",
        "fly flight",
        "begin beginning",
        "underage age",
        "france french",
        "spain spanish",
        "netherlands dutch",
        "england english",
    )
    for word in line.split()
}
ENDINGS = words(
    "e s d y ed er or es al ly ic an en ing ion ian ish ist ism ity ive ise ize ial age ant ent "
    "ate able ably ible ibly ance ence ancy ency ment ness ship hood less ful ous ious ation "
    "ition tion sion ssion ication ption iption be ve pt de fe t se ce cy ry ary ory ery ese ii "
    "ally ical ically ively ingly edly fully ers ors ings ions ments ations ities ies iness ier "
    "n r ure th ward wards wise self ative itive ator ators isation ization ified ify ifies ment"
) | {""}

OF_THEMSELVES = words(
    "open close move change start stop end develop form break merge expand continue train spread"
    " grow sink dissolve transfer relocate premiere explode overturn dry burst collapse crash"
)
"""Verbs that need nobody who does it: "It was designed in Oslo and opened in 1957"."""

NEVER_PASSIVE = words(
    "became began came went arose rose fell died arrived remained appeared disappeared happened"
    " occurred existed emerged lasted seemed belonged consisted resided expired"
)
"""Past forms of verbs that have no passive."""
