import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["out/", "node_modules/"] },
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
    rules: {
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", { max: 60, IIFEs: true }],
      // Numbers in messages are plain enough.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      "max-lines-per-function": "off",
      // node:test's `test` returns a promise that its runner awaits.
      "@typescript-eslint/no-floating-promises": "off",
    },
  },
);
