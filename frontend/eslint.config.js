import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

// Text from the server or from people reaches the page as text nodes only: see core/dom.ts.
const asMarkup = ["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "write", "writeln"];

export default defineConfig(
  { ignores: ["dist", "bench/dist", "node_modules", "src/api/schema.ts"] },
  tseslint.configs.strictTypeChecked,
  { languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } } },
  {
    rules: {
      "no-restricted-properties": [
        "error",
        ...asMarkup.map((property) => ({ property, message: "Build elements with h()." })),
      ],
      "no-eval": "error",
      // need<HTMLInputElement>("#name") says what the page has.
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      "max-lines": ["error", 300],
      "max-lines-per-function": ["error", { max: 60, skipComments: true, skipBlankLines: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  { files: ["**/*.test.ts"], rules: { "max-lines-per-function": "off" } },
  { files: ["*.js", "*.ts", "build/*.ts", "bench/*.mjs", "bench/vite.config.ts"], extends: [tseslint.configs.disableTypeChecked] },
);
