import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Words that plain English does without, with what to write instead. The text is a whole comment. */
const DIALECT = [
  [/\bwhoever\b/i, 'name the subject: a client, the caller, the operator'],
  [/\banew\b/i, 'write "again"'],
  [/\bin the place of\b/i, 'write "instead of"'],
  [/\btold\b/i, 'write "reported", "published", "logged" or "listed"'],
  [/\bof before\b/i, 'write "earlier" or "existing"'],
  [/^where\b|,\s+where\b/i, 'write "if" or "when"; start a new sentence for a place'],
  [/^(of|what|who)\s/i, 'start with a verb, or with the noun that the comment describes'],
];
const VAGUE_NAMES = /^(PAUSE|PATIENCE|LIMIT|MOST|ENOUGH|FEW|SHORT|LEAST)$/;
const MAX_COMMENT_COLUMNS = 120;

/** Rejects comments and constants that are not plain English, as far as a pattern can tell. */
const plainEnglish = {
  create: ({ report, sourceCode }) => ({
    Program() {
      const blocks = [];
      for (const comment of sourceCode.getAllComments()) {
        const { start, end } = comment.loc;
        for (let line = start.line; line <= end.line; line++)
          if (sourceCode.lines[line - 1].length > MAX_COMMENT_COLUMNS)
            report({
              loc: { line, column: 0 },
              message: `wrap the comment at ${MAX_COMMENT_COLUMNS} columns`,
            });
        const text = comment.value.replace(/^\s*\*+ ?/gm, ' ');
        const last = blocks.at(-1);
        const isContinued =
          comment.type === 'Line' && last?.type === 'Line' && last.end.line === start.line - 1;
        if (isContinued) Object.assign(last, { text: last.text + text, end });
        else blocks.push({ type: comment.type, text, start, end });
      }
      for (const { text, start, end } of blocks)
        for (const [pattern, advice] of DIALECT) {
          const [match] = pattern.exec(text.replace(/\s+/g, ' ').trim()) ?? [];
          if (match) report({ loc: { start, end }, message: `"${match.trim()}": ${advice}` });
        }
    },
    VariableDeclarator({ id }) {
      if (VAGUE_NAMES.test(id.name))
        report({ node: id, message: `${id.name}: say what is limited, and in which unit` });
    },
  }),
};

/** Only these may look at the environment, end the process or print: entry points and the configuration. */
const EDGES = ['src/main.ts', 'src/process/config.ts', 'src/commands/*.ts'];

export default defineConfig(
  // The host in test/lab/estate has its own packages, without which ESLint knows no types; their builds check them.
  {
    ignores: ['**/dist', 'coverage', '.data', 'libs/time-log-client/src/openapi.ts', 'test/lab/estate/host'],
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // Nest's modules are classes that carry decorators alone.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true, allowEmpty: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Option objects of libraries are declared as classes and meant to be literals.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'src/process/config.ts reads the environment.' },
        { object: 'process', property: 'exit', message: 'Only main.ts and commands end the process.' },
      ],
    },
  },
  {
    files: ['{src,libs,test}/**/*.{ts,js,mjs}'],
    plugins: { local: { rules: { 'plain-english': plainEnglish } } },
    rules: { 'local/plain-english': 'error' },
  },
  {
    files: [...EDGES, 'test/**', '**/*.spec.ts'],
    rules: { 'no-console': 'off', 'no-restricted-properties': 'off' },
  },
  {
    files: ['test/**'],
    ignores: ['test/support/environment.ts', 'test/lab/tools/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "MemberExpression[object.object.name='process'][object.property.name='env'][property.name='PATH']",
          message:
            'environment() in test/support keeps the .env of a developer away from what a test starts.',
        },
      ],
    },
  },
);
