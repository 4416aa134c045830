"""The rule-based splitter of Zhang et al. (2020), §3.1 and appendix A: a baseline.

Three processes run once each, in this order: wh (:mod:`.wh`), conjunction (:mod:`.conjunction`)
and insertion (:mod:`.insertion`). Where the paper is silent we decided as follows; docs/rules.md
has the reasons and an example for each, which the tests run, and says which three decisions go
further than the paper's words.

Decisions
---------
All processes
    The source is analysed once. Sentences made so far are searched from left to right, and the
    first place that fits is taken if both sides have a verb and no word but "and" and relative
    words is lost, nor a quotation mark. An argument is a numbered
    argument (ARG0 to ARG5) of a verb. Copied verbs keep their form.
Wh
    The split is a cut at the R-ARG. A relative clause between a noun and its verb leaves no verb
    before the cut, so the third process extracts it. The Subject Argument replaces the relative
    word ("whose" with "'s"); the other words of the R-ARG ("to which", "most of whom") stay.
Conjunction
    "Followed by an argument" means that an argument begins there. The subject is the last argument
    before the verb in its own frame, for an auxiliary in that of its main verb; failing that, the
    last argument before the verb that it is joined to.
Insertion
    Participle modifiers are ``acl`` and ``advcl`` with VBG or VBN; relative clause modifiers
    ``acl:relcl`` whose subject is the relative pronoun; prepositional ones ``nmod`` with a
    preposition; adjective ones ``amod`` after the noun, or ``acl`` and ``advcl`` with an adjective;
    appositional ones ``appos``. None has a subject, auxiliary or conjunction of its own, each has
    two words or more, and those without a verb are set off by marks, which go with them.
    The subject is that of the predicate which the clause modifies, else the noun it modifies. A
    clause without a finite verb gets a form of "to be" that agrees with the subject, in the tense
    of the nearest finite verb. The clause comes first only if the source begins with it.
"""

from parataxis.splitters.rules.splitter import RulesSplitter, split_by_rules

__all__ = ["RulesSplitter", "split_by_rules"]
