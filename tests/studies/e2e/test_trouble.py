"""A rater who reloads, goes back, opens two tabs, loses the network, or changes the device."""

from typing import Any

import pytest

from parataxis.studies.study import Role

STUDY: dict[str, Any] = {"items": "items.jsonl", "rate": {"raters": 1}}
QUESTIONS = ("sensical", "grammatical", "misses", "adds", "wrong-split", "split-further")


def _begin(site: Any, page: Any, link: str) -> str:
    """Come in and go to the first task."""
    page.goto(link)
    page.goto(f"{site.url}/task")
    page.get_by_test_id("source").wait_for()
    return str(page.url)


def _answer(page: Any, **other: str) -> None:
    for question in QUESTIONS:
        value = other.get(question, "5" if question in QUESTIONS[:2] else "no")
        _pick(page, question, value)


def _pick(page: Any, question: str, value: str) -> None:
    page.locator(f"[name=q-{question}][value='{value}']").locator("xpath=ancestor::label").click()


def _saved(page: Any) -> None:
    page.get_by_test_id("state").get_by_text("Saved", exact=True).wait_for()


def _is_picked(page: Any, question: str, value: str) -> bool:
    return bool(page.locator(f"[name=q-{question}][value='{value}']").is_checked())


def _submit(page: Any) -> None:
    here = page.url
    page.get_by_test_id("submit").click()
    page.wait_for_url(lambda url: url != here)
    page.wait_for_load_state()


def test_trouble_reload_keeps_the_answers(serve: Any, device: Any) -> None:
    site = serve(**STUDY)
    person, link = site.invite()
    page = device().new_page()
    here = _begin(site, page, link)
    _pick(page, "sensical", "4")
    _saved(page)
    page.reload()
    assert _is_picked(page, "sensical", "4")
    _pick(page, "grammatical", "3")
    page.reload()  # before it is saved
    assert _is_picked(page, "sensical", "4")
    assert _is_picked(page, "grammatical", "3")
    assert page.url == here
    assert len(site.store.export_history()) == 0
    assert site.store.progress(person).done["rate"] == 0


def test_trouble_going_back_corrects_and_never_doubles(serve: Any, device: Any) -> None:
    site = serve(**STUDY)
    _, link = site.invite()
    page = device().new_page()
    first = _begin(site, page, link)
    _answer(page)
    _submit(page)
    assert page.url != first
    page.go_back()
    page.wait_for_url(first)
    page.reload()
    assert page.get_by_test_id("submitted").is_visible()
    _pick(page, "adds", "yes")
    _submit(page)
    (rating,) = site.store.export_ratings()
    assert rating.answers["adds"] is True
    assert len(site.store.export_history()) == 2
    page.get_by_test_id("undo").click()
    page.wait_for_url(f"{first}?notice=undone")
    assert _is_picked(page, "adds", "yes")
    assert site.store.export_ratings() == []


def test_trouble_two_tabs_and_a_double_click_are_one_rating(serve: Any, device: Any) -> None:
    site = serve(**STUDY)
    _, link = site.invite()
    context = device()
    one, two = context.new_page(), context.new_page()
    here = _begin(site, one, link)
    two.goto(f"{site.url}/task")
    assert two.url == here
    _answer(one)
    _answer(two)
    button = one.get_by_test_id("submit")
    button.dblclick()
    one.wait_for_url(lambda url: url != here)
    _submit(two)
    assert two.url == one.url
    assert len(site.store.export_history()) == 1
    assert len(site.store.export_ratings()) == 1


def test_trouble_without_network_nothing_is_lost(serve: Any, device: Any) -> None:
    site = serve(**STUDY)
    person, link = site.invite()
    context = device()
    page = context.new_page()
    here = _begin(site, page, link)
    slot = here.rpartition("/")[2]
    context.set_offline(True)
    _answer(page, sensical="4")
    page.get_by_test_id("submit").click()
    page.get_by_text("No connection.").wait_for()
    assert _is_picked(page, "sensical", "4")
    _pick(page, "sensical", "3")
    page.get_by_text("Not saved yet").wait_for()
    assert site.store.task(person, slot).draft is None
    context.set_offline(False)
    _saved(page)
    assert site.store.task(person, slot).draft["sensical"] == 3
    _submit(page)
    (rating,) = site.store.export_ratings()
    assert rating.answers["sensical"] == 3
    device.forgive("ERR_INTERNET_DISCONNECTED")


def test_trouble_a_server_that_is_away_for_a_moment(serve: Any, device: Any) -> None:
    site = serve(**STUDY)
    _, link = site.invite()
    context = device()
    page = context.new_page()
    _begin(site, page, link)
    _answer(page)
    _saved(page)
    context.route("**/submission", lambda route: route.fulfill(status=503, json={"detail": "x"}))
    page.get_by_test_id("submit").click()
    page.get_by_text("Not saved yet").wait_for()
    context.unroute("**/submission")
    _submit(page)
    assert len(site.store.export_ratings()) == 1
    device.forgive("status of 503")


def test_trouble_resume_on_another_device(serve: Any, device: Any) -> None:
    site = serve(write={"sources": "sources.txt", "writers": 1})
    _, link = site.invite(Role.WRITER)
    laptop, phone = device().new_page(), device(viewport={"width": 360, "height": 740}).new_page()
    here = _begin(site, laptop, link)
    laptop.get_by_test_id("rewrite").fill("The ferry left Arden at noon. It")
    _saved(laptop)
    assert _begin(site, phone, link) == here
    assert phone.get_by_test_id("rewrite").input_value() == "The ferry left Arden at noon. It"
    phone.get_by_test_id("rewrite").fill("The ferry left Arden at noon. It ran aground.")
    _submit(phone)
    (rewrite,) = site.store.export_items()
    assert rewrite.simple == ("The ferry left Arden at noon.", "It ran aground.")


def test_trouble_the_language_can_be_changed_in_the_middle(serve: Any, device: Any) -> None:
    site = serve(**STUDY)
    _, link = site.invite()
    page = device().new_page()
    here = _begin(site, page, link)
    _pick(page, "sensical", "2")
    page.get_by_test_id("language-es").click()
    page.get_by_test_id("question-sensical").get_by_text("La reescritura").wait_for()
    assert page.url == here
    assert page.locator("html").get_attribute("lang") == "es"
    assert page.get_by_test_id("submit").inner_text() == "Enviar"
    assert _is_picked(page, "sensical", "2")
    page.get_by_test_id("submit").click()
    page.get_by_text("Responda a esta pregunta").first.wait_for()
    device.forgive("status of 422")
    page.goto(f"{site.url}/instructions")
    assert page.get_by_role("heading", level=1).inner_text() == "Instrucciones"


@pytest.mark.parametrize("javascript", [True, False])
def test_trouble_texts_of_items_are_texts(serve: Any, device: Any, javascript: bool) -> None:
    site = serve(**STUDY)
    _, link = site.invite()
    page = device(java_script_enabled=javascript).new_page()
    _begin(site, page, link)
    seen = ""
    while page.get_by_test_id("source").count():
        assert page.locator("main b, main img").count() == 0
        seen += page.get_by_test_id("source").inner_text()
        _answer(page)
        _submit(page)
    assert '<img src=x onerror="document.title=1"> & "quoted"' in seen
    assert page.get_by_test_id("done").inner_text().strip() == "Ratings: 3."


def test_trouble_questions_come_and_go_with_the_answers(serve: Any, device: Any) -> None:
    site = serve(**STUDY, rubric="concise")
    _, link = site.invite()
    page = device().new_page()
    _begin(site, page, link)
    while page.get_by_test_id("identical").count():
        for question, value in (("simplification", "1"), ("concerning", "no"), ("needed", "no")):
            _pick(page, question, value)
        _submit(page)
    for question in ("simplification", "meaning", "fluency"):
        _pick(page, question, "2")
    _pick(page, "concerning", "no")
    _pick(page, "needed", "yes")
    severity, edited = page.get_by_test_id("question-severity"), page.locator("[name=q-edited]")
    assert not severity.is_visible()
    _pick(page, "overall", "edit")
    assert edited.is_visible()
    edited.fill("It burnt.")
    _pick(page, "overall", "reject")
    assert severity.is_visible()
    assert not edited.is_visible()
    page.get_by_test_id("submit").click()
    page.locator("#q-severity-problem").wait_for()
    device.forgive("status of 422")
    _pick(page, "severity", "3")
    page.locator("[name=q-corrected]").fill("The mill burnt.")
    _submit(page)
    kept = [each for each in site.store.export_ratings() if not each.identical][-1]
    assert kept.answers["edited"] is None
    assert kept.answers["corrected"] == "The mill burnt."
