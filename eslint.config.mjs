import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Only these may look at the environment, end the process or print: entry points and the configuration. */
const EDGES = ['src/main.ts', 'src/process/config.ts', 'src/commands/*.ts'];

export default defineConfig(
  // The hosts in test/lab/estate have their own packages, without which ESLint knows no types; their builds check them.
  {
    ignores: [
      '**/dist',
      'coverage',
      '.data',
      'libs/time-log-client/src/openapi.ts',
      'test/lab/estate/nest-*',
    ],
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
