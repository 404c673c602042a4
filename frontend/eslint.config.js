import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

// Text from the server or from people reaches the page as text nodes only: see core/dom.ts.
const asMarkup = ["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "write", "writeln"];

// graph/ is told everything that it works on: of others it knows types alone. tsconfig.graph.json has the browser's own
// names refused there, as the language's library is all that it gets.
const pure = (files, out) => ({
  files: [files],
  ignores: ["**/*.test.ts"],
  rules: {
    "@typescript-eslint/no-restricted-imports": ["error", {
      patterns: [
        { regex: `^${out.replaceAll(".", "\\.")}`, allowTypeImports: true, message: "graph/ is pure: nothing outside of it but types." },
        { regex: "^(?!\\.|yaml$)", message: "graph/ is pure: no package but the parser of YAML." },
      ],
    }],
  },
});

// The ways to see and change the document know nothing of each other.
const apart = (folder, ...others) => ({
  files: [`src/${folder}/**`],
  rules: {
    "no-restricted-imports": ["error", { patterns: [{ regex: `^(\\.\\./)+(${others.join("|")})/`, message: `${folder}/ knows nothing of ${others.join(" and ")}.` }] }],
  },
});

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
  apart("canvas", "form", "text"),
  apart("form", "canvas", "text"),
  apart("text", "canvas", "form"),
  pure("src/graph/*.ts", "../"),
  pure("src/graph/*/*.ts", "../../"),
  { files: ["**/*.test.ts"], rules: { "max-lines-per-function": "off" } },
  { files: ["*.js", "*.ts", "build/*.ts", "bench/*.mjs", "bench/vite.config.ts"], extends: [tseslint.configs.disableTypeChecked] },
);
