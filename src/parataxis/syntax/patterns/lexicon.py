"""The word lists that decide which pattern a phrase shows; docs/patterns.md explains each."""

from parataxis.text import english
from parataxis.text.english import phrases, words

WH_WORDS = english.RELATIVES | words("where when why whereby wherein")

ADDITIVE = english.COORDINATORS - {"or"} | {"&"}
"""Conjunctions that assert both sides."""

INDEFINITE = words("a an another some several")

DEFINITE = english.DEMONSTRATIVES | words(
    "the each every any all no both either neither such what which whichever whatever"
)

ADVERBIAL_MARKS = phrases(
    "because / since / as / while / whilst / when / whenever / after / before / until / till / "
    "once / although / though / even though / even when / even after / even before / even as / "
    "whereas / so that / now that / in that / lest / except / except as / except that / "
    "except when / save as / just as / as soon as / notwithstanding / notwithstanding that / "
    "given that / in order that"
)

CONDITION_MARKS = phrases(
    "if / even if / only if / except if / as if / as though / like / unless / than / whether / "
    "as long as / so long as / in case / so far as / insofar as / where"
)
"""Conditions and comparisons: they stay with what they condition."""

PROVISOS = phrases("provided / provided that / providing / providing that")
"""A condition that is added after a comma is restated as a sentence ("This applies only if ...");
one that comes first, or without a comma, stays where it is."""

GERUND_MARKS = phrases(
    "after / before / while / whilst / when / since / until / upon / on / once / despite / "
    "in spite of / although / though / besides / in addition to / instead of / prior to / "
    "following"
)
"""What turns a gerund into an adverbial phrase wherever it stands; any other preposition ("by
selling its shares") must be set off by a comma."""

LINKING_PREPOSITIONS = phrases(
    "despite / in spite of / notwithstanding / because of / due to / owing to / thanks to / "
    "as a result of / as a consequence of / as part of / in response to / in addition to / "
    "instead of / in place of / in contrast to / in contrast with / contrary to / unlike / "
    "along with / together with / along the lines / in accordance with / in compliance with / "
    "in conformity with / in line with / pursuant to / subject to / in connection with / "
    "on behalf of / for the benefit of / for the purpose of / for the purposes of / "
    "for the sake of / for lack of / in exchange for / in return for / in honour of / "
    "in honor of / in memory of / in recognition of / in protest against / in protest at / "
    "in violation of / in breach of / in defiance of / at the request of / at the invitation of / "
    "at the expense of / with the help of / with the aid of / with the support of / "
    "with the consent of / with the approval of / under the supervision of / "
    "under the leadership of / under the direction of / under the guidance of / by means of / "
    "by virtue of / except for / apart from / aside from / with the exception of / without"
)
"""Prepositions that link the clause to a second fact, so that their phrase counts anywhere."""

SET_OFF_PREPOSITIONS = phrases(
    "with / as / like / amid / amidst / among / for all / besides / including"
)
"""Those whose phrase counts even before the verb, but only where punctuation sets it off."""

REPORTING_STARTS = phrases(
    "according to / such as / other than / in whole / as well as / as to / as for / as of / "
    "as opposed to / rather than / per / of / for example / for instance / depending on"
)
"""Starts of phrases that never state a fact of their own: attributions, examples, lists."""

REPORTING_VERBS = words(
    "say says said tell tells told think thinks thought ask asks asked reply replied replies add "
    "adds added promise promised believe believes believed explain explained claim claims claimed "
    "write writes wrote know knows knew suppose hope hopes hoped"
)

ROLE_FRAMES = words(
    "result consequence child boy girl man woman youth teenager student adult rule whole matter "
    "fact usual"
)
"""Nouns after which "as a ..." is a time or a connective, not a role ("as a young man")."""

COMPLEMENT_NOUNS = words(
    "ability attempt authority capacity chance commitment decision desire determination duty "
    "effort failure freedom inability inclination intention invitation need obligation offer "
    "opportunity option order permission power pressure promise reason refusal reluctance "
    "request requirement responsibility right temptation tendency threat time way willingness "
    "wish attempts efforts rights opportunities obligations duties powers reasons ways chances "
    "person man woman one"
)
"""Nouns whose infinitive says what they consist in ("the right to terminate"), not a purpose."""

PURPOSE_VERBS = words(
    "send sends sent sending hire hires hired hiring dispatch dispatched recruit recruited "
    "found founded establish established build builds built erect erected create created form "
    "formed set introduced launched held convened organised organized installed "
    "bring brought commission commissioned engage engaged"
)
"""Verbs whose infinitive is a purpose even where a parser calls it a complement."""

NEGATIONS = english.NEGATIVE_ADVERBS | {"n’t", "no"}

COMPLEMENT_VERBS = tuple(
    words(
        "use using help need entitl requir allow permit enabl cause causing oblig order ask "
        "forc urg authoris authoriz instruct persuad convinc encourag want expect tell told invit "
        "warn advis compel teach taught beg train tempt remind"
    )
)
"""How the verbs begin whose infinitive completes them ("entitle the buyer to cancel")."""

TIME_WORDS = (
    english.MONTHS
    | english.WEEKDAYS
    | words(
        "spring summer autumn fall winter "
        "year month week day night morning evening afternoon century decade time moment period era "
        "age season hour hours days weeks months years minutes"
    )
)
