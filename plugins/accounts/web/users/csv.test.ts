import { expect, test } from "vitest";
import { parseCsv, readUsers } from "./csv.ts";

test("reads quoted cells, doubled quotes, line ends inside of them, and leaves out empty lines", () => {
  expect(parseCsv('\uFEFFa,b\r\n"x, ""y""","two\nlines"\r\n\r\n,\nlast,')).toEqual([
    { line: 1, cells: ["a", "b"] },
    { line: 2, cells: ['x, "y"', "two\nlines"] },
    { line: 6, cells: ["last", ""] },
  ]);
  expect(parseCsv("a;b\n1,5;2")).toEqual([
    { line: 1, cells: ["a", "b"] },
    { line: 2, cells: ["1,5", "2"] },
  ]);
  expect(parseCsv("")).toEqual([]);
});

test("finds the columns by their names, whatever their order", () => {
  expect(readUsers("Role,E-Mail,Name,Password\nadmin,a@b.c, Ada , p \n,g@b.c,Grace,q")?.users).toEqual([
    { line: 2, name: "Ada", email: "a@b.c", password: " p ", role: "admin" },
    { line: 3, name: "Grace", email: "g@b.c", password: "q", role: "user" },
  ]);
  expect(readUsers("name,email\nAda,a@b.c")?.users).toMatchObject([{ name: "Ada", password: "" }]);
  expect(readUsers("name,password\nAda,p")).toBeUndefined();
  expect(readUsers("Name;E-Mail;Passwort;Rolle;name\nAda;a@b.c;p;admin;x")).toMatchObject({
    users: [{ name: "Ada", password: "", role: "user" }],
    unused: ["Passwort", "Rolle", "name"],
  });
});
