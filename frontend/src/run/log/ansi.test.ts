import { describe, expect, it } from "vitest";

import { pieces, plain } from "./ansi";

describe("pieces", () => {
  it("keeps plain text as one piece", () => {
    expect(pieces("epoch 1: loss 0.5")).toEqual([{ text: "epoch 1: loss 0.5", style: "" }]);
  });

  it("shows colours and their end", () => {
    expect(pieces("\u001b[1;31merror\u001b[0m: no \u001b[92mfile\u001b[39m!")).toEqual([
      { text: "error", style: "ansi-bold ansi-front-1" },
      { text: ": no ", style: "" },
      { text: "file", style: "ansi-front-10" },
      { text: "!", style: "" },
    ]);
  });

  it("brings 256 colours and true colours to the nearest of 16", () => {
    expect(pieces("\u001b[38;5;196mr\u001b[48;2;0;0;200mb")).toEqual([
      { text: "r", style: "ansi-front-9" },
      { text: "b", style: "ansi-front-9 ansi-back-12" },
    ]);
  });

  it("shows what is left on the screen of a progress bar", () => {
    expect(plain("10%\r20%\r30%\r")).toBe("30%");
  });

  it("never lets markup or cursor movements through", () => {
    expect(pieces("\u001b]8;;http://x\u0007<b>link</b>\u001b]8;;\u0007\u001b[2K\u001b[1A.")).toEqual([
      { text: "<b>link</b>", style: "" },
      { text: ".", style: "" },
    ]);
    expect(plain("a\u0000b\u0008c\u001b(")).toBe("abc(");
  });

  it("is the same text with and without colours", () => {
    const line = "\u001b[33mwarn\u001b[m \tx\u001b[4mu\u001b[24m";
    expect(pieces(line).map((piece) => piece.text).join("")).toBe(plain(line));
  });
});
