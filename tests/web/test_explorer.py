"""`/docs` in a real browser: every operation is tried, and nobody else is asked for anything."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from tests.http.serving import Serving, serving
from tests.http.test_every_route import ended, pended, told
from tests.web.conftest import Complaints, OpenPage
from toprung.http.settings import ServiceSettings

README = re.findall(
    r"^\$ curl (-X PUT )?--json '(.+?)' http://[^/]+(/\S+)$",
    (Path(__file__).parents[2] / "README.md").read_text(),
    re.MULTILINE,
)
Kind = Callable[[str, Any], object]
JSON = {"content-type": "application/json"}
SOAK = bool(os.environ.get("TOPRUNG_SOAK"))


def make_the_readmes_board(service: Serving) -> None:
    assert len(README) >= 3
    for put, body, path in README:
        method = "PUT" if put else "POST"
        answer = service.http.request(method, path, content=body, headers=JSON)
        assert answer.is_success, answer.text


def open_docs(open_page: OpenPage, service: Serving, path: str = "/docs", **options: Any) -> Page:
    """The page, in a browser that reaches nobody else and complains when it should."""
    page = open_page("about:blank", **options)
    ours = (service.url + "/", "data:", "blob:")
    page.route(lambda url: not url.startswith(ours), lambda route: route.abort())
    page.goto(service.url + path)
    expect(page.locator(".opblock").first).to_be_visible()
    return page


def authorise(page: Page, key: str) -> None:
    page.get_by_role("button", name="Authorize").first.click()
    dialog = page.locator(".dialog-ux")
    dialog.locator("input").fill(key)
    dialog.get_by_role("button", name="Apply credentials").click()
    dialog.get_by_role("button", name="Close").last.click()


FIND = """
    const find = part => document.querySelector(`.opblock[id$="-${name}"] ${part}`);
    const until = async condition => {
        const deadline = Date.now() + 30_000;
        while (!condition()) {
            if (Date.now() > deadline) throw new Error(`${name}: never ${condition}`);
            await new Promise(resolve => setTimeout(resolve, 5));
        }
        return condition();
    };
"""
OPEN = f"""async ([tag, name]) => {{
    {FIND}
    for (const each of document.querySelectorAll('h3.opblock-tag')) {{
        const isOpen = each.dataset.isOpen === 'true';
        if (isOpen !== (each.dataset.tag === tag)) each.click();  // few are quicker to draw
    }}
    (await until(() => find('.opblock-summary-control'))).click();
    await until(() => find('.execute'));
    const paths = ui.specSelectors.specJson().get('paths').toJS();
    const [path, method] = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map(method => [path, method])
    ).find(([path, method]) => paths[path][method].operationId === name);
    // what it refers to is read a moment after it was opened
    await until(() => ui.specSelectors.specResolvedSubtree(['paths', path, method]));
}}"""
EXECUTE = f"""async name => {{
    {FIND}
    find('.execute').click();
    const shown = await until(
        () => find('.live-responses-table > tbody .response-col_status')
    );
    const status = parseInt(shown.textContent);
    find('.opblock-summary-control').click();  // what is closed is not drawn again
    return status;
}}"""


def try_it(page: Page, tag: str, name: str, fields: dict[str, str]) -> int:
    """Execute an operation with its examples, and these fields; returns the status shown."""
    page.evaluate(OPEN, [tag, name])
    for field, text in fields.items():
        box = page.locator(f".opblock[id$='-{name}'] tr[data-param-name='{field}'] input")
        box.fill(text)
        box.blur()  # until then, more may be typed
    return int(page.evaluate(EXECUTE, name))


def operations(service: Serving) -> list[tuple[str, Any]]:
    """Every method and operation; those that delete come last, the longest paths of them first."""
    paths = service.anyone.get("/openapi.json").json()["paths"]
    found = [(path, method, op) for path in paths for method, op in paths[path].items()]
    found.sort(key=lambda each: len(each[0]) if each[1] == "delete" else -math.inf, reverse=True)
    found.sort(key=lambda each: each[1] == "delete")
    return [(method, operation) for _, method, operation in found]


def one_of_each(kind: Kind, found: list[tuple[str, Any]]) -> list[Any]:
    """Operations, in their order: the last one of each kind."""
    last = {kind(method, operation): operation for method, operation in found}
    return [operation for _, operation in found if operation in last.values()]


def subject_and_method(method: str, operation: Any) -> object:
    return operation["tags"][0], method


def method_alone(method: str, _: Any) -> object:
    return method


@pytest.fixture(autouse=True)
def name_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the name wait that the example of a verdict is about."""
    (tmp_path / "words").write_text("Admin\n")
    monkeypatch.setenv("TOPRUNG_NAME_WORDS", str(tmp_path / "words"))


def try_all(page: Page, service: Serving, wanted: list[Any]) -> dict[str, int]:
    """Execute these operations as they are shown; returns the statuses shown.

    Only what the service itself has named is typed in.
    """
    made = {
        "key": service.http.post("/v1/keys", json={"name": "spare"}).json()["id"],
        "message": told(service.http, "blitz"),
        "period": ended(service.http, "blitz")["period"],
    }
    closing = f"/v1/boards/blitz/periods/daily/{made['period']}/close"
    service.http.post(closing, json={}).raise_for_status()
    sent = service.http.post("/v1/boards/blitz/scores", json={"player": "bob", "score": 1}).json()
    waiting, found = pended(service.http, "blitz"), {}
    for operation in wanted:
        name = operation["operationId"]
        if name == "review_name":
            named = service.http.patch("/v1/players/alice", json={"name": "Admin"})
            assert named.is_success
        made["submission"] = waiting if name == "decide_submission" else str(sent["submission"])
        required = [each for each in operation["parameters"] if each.get("required")]
        fields = {each["name"]: made[each["name"]] for each in required if "example" not in each}
        found[name] = try_it(page, operation["tags"][0], name, fields)
    return found


@pytest.mark.slow
def test_every_operation_succeeds_as_it_is_shown(open_page: OpenPage) -> None:
    """All of them in a soak, for each takes a second; otherwise the last one of each kind."""
    with serving(ServiceSettings()) as service:
        make_the_readmes_board(service)
        everything = operations(service)
        assert len(everything) > 45
        whole = [each for _, each in everything]
        wanted = whole if SOAK else one_of_each(subject_and_method, everything)
        found = try_all(open_docs(open_page, service), service, wanted)
    assert len(found) == len(wanted) > 12
    assert {name: status for name, status in found.items() if not 200 <= status < 300} == {}


@pytest.mark.slow
def test_with_a_key_the_page_may_do_what_the_key_may(
    open_page: OpenPage, complaints: Complaints
) -> None:
    """One operation of each method, and of each subject in a soak."""
    complaints.expect("401")  # the browser's own words
    with serving(ServiceSettings(needs_keys=True)) as service:
        assert service.key is not None
        make_the_readmes_board(service)
        page = open_docs(open_page, service)
        assert try_it(page, "scores", "submit_batch", {}) == 401
        authorise(page, service.key)
        needed = [each for each in operations(service) if each[1]["security"]]
        kind = subject_and_method if SOAK else method_alone
        found = try_all(page, service, one_of_each(kind, needed))
        assert len(found) >= (12 if SOAK else 5)
        assert {name: status for name, status in found.items() if not 200 <= status < 300} == {}
        kept = page.evaluate("[JSON.stringify(localStorage), JSON.stringify(sessionStorage)]")
        assert service.key not in "".join(kept) + str(page.context.cookies())


@pytest.fixture(scope="module")
def keyless() -> Iterator[Serving]:
    with serving(ServiceSettings()) as service:
        make_the_readmes_board(service)
        yield service


@pytest.mark.parametrize("scheme", ["light", "dark"] if SOAK else ["dark"])
def test_a_phone_does_not_scroll_sideways(
    keyless: Serving, open_page: OpenPage, scheme: str
) -> None:
    page = open_docs(open_page, keyless, width=390, color_scheme=scheme)
    assert width(page) <= 390
    page.evaluate(OPEN, ["scores", "submit"])
    page.evaluate("document.querySelector('.execute').click()")
    block = page.locator(".opblock[id$='-submit']")
    expect(
        block.locator(".live-responses-table > tbody .response-col_status").first
    ).to_be_visible()
    assert width(page) <= 390
    for control in block.locator(":is(button, input, select, textarea):visible").all():
        box = control.bounding_box()
        assert box is not None
        assert box["x"] >= 0, control
        assert box["x"] + box["width"] <= 390, control
    page.get_by_role("button", name="Authorize").first.click()
    expect(page.locator(".dialog-ux input")).to_be_in_viewport()
    assert width(page) <= 390
    page.goto(f"{keyless.url}/docs/live")
    expect(page.get_by_role("heading", level=1)).to_contain_text("live")
    assert width(page) <= 390


def width(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


def test_text_can_be_read_in_light_and_dark(keyless: Serving, open_page: OpenPage) -> None:
    """The contrast of text that is not coloured by Swagger UI's own style."""
    page = open_docs(open_page, keyless)
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        for part in (".links a", "#problems", "section td", ".info .title", ".opblock-tag"):
            assert contrast(page, part) >= 4.5, (scheme, part)


def contrast(page: Page, selector: str) -> float:
    """The ratio of WCAG between a text and the page behind it."""
    colours = page.locator(selector).first.evaluate(
        """element => {
            const canvas = document.createElement('canvas')
                .getContext('2d', {willReadFrequently: true});
            const rgb = colour => {
                canvas.clearRect(0, 0, 1, 1);
                canvas.fillStyle = colour;
                canvas.fillRect(0, 0, 1, 1);
                return [...canvas.getImageData(0, 0, 1, 1).data];
            };
            let behind = element;
            const colourOf = each => rgb(getComputedStyle(each).backgroundColor);
            while (behind && colourOf(behind)[3] === 0) behind = behind.parentElement;
            const under = behind ? colourOf(behind) : rgb('Canvas');
            return [rgb(getComputedStyle(element).color), under];
        }"""
    )
    lighter, darker = sorted((luminance(each) for each in colours), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: list[int]) -> float:
    parts = [each / 255 for each in colour[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_it_is_used_with_the_keyboard(keyless: Serving, open_page: OpenPage) -> None:
    page = open_docs(open_page, keyless)
    block = page.locator(".opblock[id$='-get_board']")
    block.locator(".opblock-summary-control").focus()
    page.keyboard.press("Enter")
    expect(block.locator("tr.response[data-code='200'] .model-example")).to_be_visible()
    block.locator("tr[data-param-name='board'] input").focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('execute')"):
            break
    page.keyboard.press("Enter")
    status = block.locator(".live-responses-table > tbody .response-col_status").first
    expect(status).to_contain_text("200")


def test_a_browser_that_asks_somebody_else_is_noticed(
    keyless: Serving, open_page: OpenPage, complaints: Complaints
) -> None:
    page = open_docs(open_page, keyless)
    page.evaluate("fetch('https://example.org/').catch(() => null)")  # the policy forbids it
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    assert len(complaints) >= 2
    assert all("Content Security Policy" in each for each in complaints)
    complaints.clear()


def test_scores_are_shown_to_the_last_digit(open_page: OpenPage) -> None:
    with serving(ServiceSettings()) as service:
        service.http.put("/v1/boards/blitz", json={"decimals": 2})
        score = {"player": "alice", "score": "90071992547409.90"}
        assert service.http.post("/v1/boards/blitz/scores", json=score).is_success
        page = open_docs(open_page, service)
        page.evaluate(OPEN, ["standings", "get_standing"])
        shown = page.locator(".opblock[id$='-get_standing']")
        shown.get_by_role("button", name="Execute").click()
        expect(shown.locator(".live-responses-table")).to_contain_text(
            '"score": 90071992547409.90,'
        )


def test_a_link_that_leads_nowhere_breaks_nothing(
    keyless: Serving, open_page: OpenPage, complaints: Complaints
) -> None:
    page = open_page(f"{keyless.url}/docs#%")
    page.wait_for_selector(".opblock")
    assert all("swagger-ui-bundle" in each for each in complaints)  # it reads the link, too
    complaints.clear()


def test_a_problem_links_to_its_explanation(keyless: Serving, open_page: OpenPage) -> None:
    problem = keyless.http.get("/v1/boards/none").json()
    page = open_docs(open_page, keyless, problem["type"])
    expect(page.locator("#unknown-board")).to_be_in_viewport()


def test_the_boards_link_to_it(keyless: Serving, open_page: OpenPage) -> None:
    page = open_page(f"{keyless.url}/")
    page.get_by_role("link", name="API").click()
    expect(page.locator(".opblock").first).to_be_visible()
