"""A study with invented people, to try it out before real ones come. Needs the extra [study]."""

from parataxis.studies.simulation.people import Habits
from parataxis.studies.simulation.run import Clock, Simulated, simulate
from parataxis.studies.simulation.truth import Truth

__all__ = ["Clock", "Habits", "Simulated", "Truth", "simulate"]
