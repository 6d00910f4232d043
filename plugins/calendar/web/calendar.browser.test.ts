import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write, writeMoment } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

/** An event is drawn anew when it is stored: between the two there is no box. */
async function placeOf(element: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = () => element.boundingBox();
  await expect.poll(box).not.toBeNull();
  return (await box()) ?? (await placeOf(element));
}

describeInterface("the calendar", ({ setUp, openPage }) => {
  let app: App;

  setUp(async (keep) => {
    app = await keep(startApp());
  });

  test("makes, shows, changes and deletes an event and one time of a series", async () => {
    const { token } = await app.admin();
    const { page, close } = await openPage({ url: app.url, token, path: "/calendar" });
    const grid = page.getByRole("grid");
    await grid.waitFor();
    await expectNoAxeFindings(page);
    const dialog = page.getByRole("dialog");
    // A press on a day begins an event there, whose form has its buttons in sight on a small screen.
    await page.setViewportSize({ width: 1280, height: 800 });
    const cell = grid.getByRole("gridcell").nth(9);
    const box = await cell.boundingBox();
    await page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) - 12);
    const asked = await cell.getByRole("button").first().innerText();
    expect(Number((await dialog.getByLabel("Begins on").inputValue()).slice(-2))).toBe(Number(asked));
    for (const part of [
      dialog.getByText("Reminder"),
      dialog.getByText("Calendar"),
      dialog.getByRole("button", { name: "Save" }),
    ]) {
      await part.first().waitFor();
    }
    const save = await dialog.getByRole("button", { name: "Save" }).boundingBox();
    expect((save?.y ?? 0) + (save?.height ?? 0)).toBeLessThan(800);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New event", exact: true }).click();
    await write(dialog.getByRole("textbox", { name: "Title" }), "Dress the stones");
    const now = new Date();
    const day = `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}-`;
    await writeMoment(dialog.getByLabel("Begins on"), `${day}10`);
    await writeMoment(dialog.getByLabel("At", { exact: true }), "09:30");
    await writeMoment(dialog.getByLabel("Ends on"), `${day}10`);
    await writeMoment(dialog.getByLabel("Until", { exact: true }), "11:00");
    await dialog.getByRole("button", { name: "Repeats" }).or(dialog.getByRole("combobox")).first().click();
    await page.getByRole("option", { name: "every day" }).click();
    await write(dialog.getByRole("textbox", { name: "Where" }), "Mill");
    await expectNoAxeFindings(page, "[role=dialog]");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const times = grid.getByRole("button", { name: /Dress the stones/ });
    await times.first().waitFor();
    const before = await times.count();
    expect(before).toBeGreaterThan(5);

    await times.nth(1).click();
    await write(dialog.getByRole("textbox", { name: "Title" }), "Dress them later");
    await dialog.getByRole("button", { name: "Save" }).click();
    await grid.getByRole("button", { name: /Dress them later/ }).waitFor();
    expect(await times.count()).toBe(before - 1);

    await grid.getByRole("button", { name: /Dress them later/ }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page
      .getByRole("alertdialog")
      .or(dialog.last())
      .getByRole("button", { name: "Delete" })
      .last()
      .click();
    await grid.getByRole("button", { name: /Dress them later/ }).waitFor({ state: "detached" });

    await page.getByRole("button", { name: "New calendar" }).click();
    await write(dialog.getByRole("textbox", { name: "Name" }), "Council");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("group", { name: "Calendars" }).getByText("Council").waitFor();
    await page.getByRole("checkbox", { name: "Personal" }).click();
    await times.first().waitFor({ state: "detached" });
    await close();

    const phone = await openPage({
      url: app.url,
      token,
      path: "/calendar",
      size: "phone",
    });
    await phone.page.getByText("Dress the stones").first().waitFor();
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(phone.page);
  });

  test("draws, moves and lengthens events of a week with the mouse and with keys", async () => {
    const { token } = await app.user();
    const { page } = await openPage({ url: app.url, token, path: "/calendar" });
    const dialog = page.getByRole("dialog");
    await page.getByText("Week", { exact: true }).click();
    const hours = page.getByRole("region", { name: "Hours of the day" });
    await hours.waitFor();
    await expectNoAxeFindings(page);
    const box = (await hours.boundingBox()) as { x: number; y: number; width: number; height: number };
    // The middle of the fourth of seven columns, behind the hours.
    const x = box.x + 56 + ((box.width - 68) / 7) * 3.5;
    const drag = async (from: [number, number], to: [number, number]) => {
      await page.mouse.move(...from);
      await page.mouse.down();
      await page.mouse.move(to[0], (from[1] + to[1]) / 2);
      await page.mouse.move(...to);
      await page.mouse.up();
    };
    await drag([x, box.y + 100], [x, box.y + 188]);
    await write(dialog.getByRole("textbox", { name: "Title" }), "Drawn");
    await dialog.getByRole("button", { name: "Save" }).click();
    const drawn = hours.getByRole("button", { name: /Drawn/ });
    await drawn.waitFor();
    const times = async () => {
      const { body } = await app.call("GET /api/v1/calendars/events/search?query=Drawn", { token });
      const [start, end] = [body[0].start_at, body[0].end_at].map((at: number) => new Date(at / 1e6));
      return {
        day: start?.getDay(),
        minutes: ((end?.getTime() ?? 0) - (start?.getTime() ?? 0)) / 60_000,
        start,
      };
    };
    const first = await times();
    expect(first.minutes).toBe(120);

    const place = await placeOf(drawn);
    const column = (box.width - 68) / 7;
    const [middle, top] = [place.x + place.width / 2, place.y + 10];
    await drag([middle, top], [middle + column, top + 44]);
    await expect.poll(async () => (await times()).day).toBe(((first.day ?? 0) + 1) % 7);
    const moved = await times();
    expect([moved.minutes, (moved.start?.getHours() ?? 0) - (first.start?.getHours() ?? 0)]).toEqual([
      120, 1,
    ]);
    const now = await placeOf(drawn);
    await drag([now.x + 20, now.y + now.height - 3], [now.x + 20, now.y + now.height + 41]);
    await expect.poll(async () => (await times()).minutes).toBe(180);

    await drawn.press("Alt+ArrowLeft");
    await expect.poll(async () => (await times()).day).toBe(first.day);
    await expect.poll(() => drawn.evaluate((element) => element === document.activeElement)).toBe(true);
    await drawn.press("Alt+Shift+ArrowUp");
    await expect.poll(async () => (await times()).minutes).toBe(165);
    await page.getByText("Day", { exact: true }).click();
    await expectNoAxeFindings(page);
  });

  test("repeats in words, asks people, who answer, and moves a series as far as is said", async () => {
    const [{ token }, guest] = [await app.user(), await app.user()];
    const { page, close } = await openPage({ url: app.url, token, path: "/calendar" });
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "New event", exact: true }).click();
    await write(dialog.getByRole("textbox", { name: "Title" }), "Council");
    await dialog.getByRole("button", { name: "Repeats" }).or(dialog.getByRole("combobox")).first().click();
    await page.getByRole("option", { name: "in other words …" }).click();
    const words = dialog.getByRole("textbox", { name: "How it repeats" });
    await write(words, "every day at 9");
    await dialog.getByText("Leave the time of day out").waitFor();
    await write(words, "every 2 days");
    expect(await dialog.getByRole("textbox", { name: "Rule" }).inputValue()).toBe("FREQ=DAILY;INTERVAL=2");
    await write(
      dialog
        .getByRole("textbox", { name: /Ask people/ })
        .or(dialog.getByRole("combobox", { name: /Ask people/ })),
      guest.name,
    );
    await page.getByRole("option", { name: new RegExp(guest.name) }).click();
    await dialog.getByText("no answer yet").waitFor();
    await expectNoAxeFindings(page, "[role=dialog]");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const council = page.getByRole("grid").getByRole("button", { name: /Council/ });
    await council.first().press("Alt+ArrowRight");
    await page.getByText("It repeats. What shall move?").waitFor();
    await dialog.getByRole("button", { name: "this time alone" }).click();
    await expect
      .poll(
        async () =>
          (await app.call("GET /api/v1/calendars/events/search?query=Council", { token })).body.length,
      )
      .toBe(2);
    await close();

    const theirs = await openPage({
      url: app.url,
      token: guest.token,
      path: "/calendar",
      size: "phone",
    });
    await theirs.page.getByText("Council").first().click();
    await theirs.page.getByText("comes", { exact: true }).click();
    await expect
      .poll(async () => {
        const { body } = await app.call("GET /api/v1/calendars/events/search?query=Council", { token });
        return body.flatMap(({ attendees }: { attendees: { status: string }[] }) =>
          attendees.map(({ status }) => status),
        );
      })
      .toContain("accepted");
    await expectNoAxeFindings(theirs.page, "[role=dialog]");
  });

  test("takes a file in, and makes and ends a subscription link", async () => {
    const { token } = await app.user();
    const { page } = await openPage({ url: app.url, token, path: "/calendar" });
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Settings of Personal" }).click();
    await dialog.getByRole("tab", { name: "Files and link" }).click();
    const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    const event = (uid: string, more: string) =>
      `BEGIN:VEVENT\r\nUID:${uid}\r\nSUMMARY:${uid}\r\nDTSTART:${today}T100000Z\r\n${more}END:VEVENT\r\n`;
    const ics = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${event("Fair", "")}${event("Odd", "RRULE:FREQ=SECONDLY\r\n")}END:VCALENDAR\r\n`;
    await page
      .getByLabel("File to import")
      .setInputFiles({ name: "a.ics", mimeType: "text/calendar", buffer: Buffer.from(ics) });
    await dialog.getByText("1 added, 0 changed").waitFor();
    await dialog.getByText(/Odd: rrule/).waitFor();
    await dialog.getByRole("button", { name: "Make a link" }).click();
    const address = await dialog.getByLabel("Address", { exact: true }).innerText();
    expect((await (await fetch(address)).text()).includes("SUMMARY:Fair")).toBe(true);
    await expectNoAxeFindings(page, "[role=dialog]");
    await page.keyboard.press("Escape");
    await page
      .getByRole("dialog", { name: "Close without keeping it?" })
      .getByRole("button", { name: "Go back" })
      .click();
    await dialog.getByRole("button", { name: "End the link" }).click();
    await expect.poll(async () => (await fetch(address)).status).toBe(404);
    await dialog.getByRole("tab", { name: "Sharing" }).click();
    await expectNoAxeFindings(page, "[role=dialog]");
  });
});
