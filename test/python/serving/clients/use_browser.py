"""use_browser.py BASE_URL MODEL FOLDER: the page of kv-serve in headless Chromium. Leaves FOLDER/page.png."""

import shutil
import sys

from playwright.sync_api import expect, sync_playwright

BASE, MODEL, FOLDER = sys.argv[1:]


def talk(page, said):
    page.goto(BASE.removesuffix("v1"))
    expect(page).to_have_title(MODEL)
    rivers = "Name three rivers of Europe. Say of each in one sentence where it begins, and which countries it passes on " \
             "its way to the sea. Then say which sea that is, and name one large city at each of the three rivers."
    for turn, text in enumerate((rivers, "Which of them is the longest?"), 1):
        page.fill("#text", text)
        page.press("#text", "Enter")
        expect(page.locator(".facts")).to_have_count(turn, timeout=120_000)
    first, second = page.locator(".facts").all()
    assert "not seen before" in first.inner_text() and "pages: cached" in second.inner_text()
    assert second.locator(".pages i[title$=': cached']").count() >= 2
    expect(page.locator("#cache")).to_contain_text("pages cached")
    page.wait_for_timeout(500)
    page.screenshot(path=f"{FOLDER}/page.png")

    page.fill("#most", "8000")
    page.fill("#text", "Count to a thousand, one number a line.")
    page.click("#send")
    expect(page.locator("#send")).to_have_text("Stop")
    expect(page.locator(".answer p").last).not_to_have_text("…", timeout=60_000)
    page.click("#send")
    expect(page.locator("#send")).to_have_text("Send", timeout=60_000)
    page.click("#reset")
    page.click("#fresh")
    expect(page.locator(".turn")).to_have_count(0)
    assert not said, said
    page.fill("#most", "0.5")  # the server's sentence is shown
    page.evaluate("document.getElementById('form').noValidate = true")
    page.fill("#text", "a")
    page.press("#text", "Enter")
    expect(page.locator(".error")).to_contain_text("max_tokens is 0.5, allowed: an integer")


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "there is no Chromium: install the package chromium"
    said, asked = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        talk(page, said)
        browser.close()
    assert all(url.startswith((BASE.removesuffix("v1"), "data:")) for url in asked), asked
    print("browser: a chat of two turns, its cached pages, a stop, an error")


if __name__ == "__main__":
    main()
