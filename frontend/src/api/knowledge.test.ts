import { expect, test } from "vitest";
import { inChinese } from "./knowledge";

test("titles and descriptions are the Chinese ones where there are any, inside of objects too", () => {
  const schema = {
    type: "object",
    properties: {
      script: { type: "string", title: "Script", description: "A file.", "x-form": { order: 1, zh: { title: "脚本", help: "一个文件。" } } },
      elastic: { type: "object", title: "Elastic", properties: { min: { type: "integer", title: "At least", "x-form": { zh: { title: "至少" } } } } },
    },
  };
  expect(inChinese(schema)).toMatchObject({
    properties: {
      script: { title: "脚本", description: "一个文件。", type: "string" },
      elastic: { title: "Elastic", properties: { min: { title: "至少" } } },
    },
  });
});
