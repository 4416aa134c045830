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
"""A proviso after a comma becomes a sentence ("This applies only if ..."); one that comes first or
without a comma stays where it is."""

GERUND_MARKS = phrases(
    "after / before / while / whilst / when / since / until / upon / on / once / despite / "
    "in spite of / although / though / besides / in addition to / instead of / prior to / "
    "following"
)
"""Words that make a gerund an adverbial phrase in any position; with any other preposition ("by
selling its shares") the phrase must be set off by a comma."""

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
"""Prepositions that link a second fact to the clause; their phrase counts anywhere."""

SET_OFF_PREPOSITIONS = phrases(
    "with / as / like / amid / amidst / among / for all / besides / including"
)
"""Prepositions whose phrase counts before the verb too, but only if punctuation sets it off."""

REPORTING_STARTS = phrases(
    "according to / such as / other than / in whole / as well as / as to / as for / as of / "
    "as opposed to / rather than / per / of / for example / for instance / depending on"
)
"""Starts of phrases that never state a fact: attributions, examples, lists."""

COMPLEMENT_NOUNS = words(
    "ability attempt authority capacity chance commitment decision desire determination duty "
    "effort failure freedom inability inclination intention invitation need obligation offer "
    "opportunity option order permission power pressure promise reason refusal reluctance "
    "request requirement responsibility right temptation tendency threat time way willingness "
    "wish attempts efforts rights opportunities obligations duties powers reasons ways chances "
    "person man woman one"
)
"""Nouns whose infinitive completes them ("the right to terminate") and states no purpose. Without
the list, 12 more infinitives are found in the development sources; writers left 7 of them whole."""

NEGATIONS = english.NEGATIVE_ADVERBS | {"n’t", "no"}

COMPLEMENT_VERBS = tuple(
    words(
        "use using help need entitl requir allow permit enabl cause causing oblig order ask "
        "forc urg authoris authoriz instruct persuad convinc encourag want expect tell told invit "
        "warn advis compel teach taught beg train tempt remind"
    )
)
"""The beginnings of verbs whose infinitive completes them ("entitle the buyer to cancel"). Without
the list, 20 more phrases are found in the development sources; writers left 17 of them whole."""

_TIMES = words(
    "spring summer autumn fall winter year month week day night morning evening afternoon century "
    "decade time moment period era age season hour hours days weeks months years minutes"
)
TIME_WORDS = english.MONTHS | english.WEEKDAYS | _TIMES
"""Without them, 5 clauses with "when" that writers split off are missed in the development sources,
and 8 dates and other phrases are found, 4 of which writers left whole."""
