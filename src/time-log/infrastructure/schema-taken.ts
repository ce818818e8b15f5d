/** Says what to do where other time logs have the names of indexes and constraints, which have no prefix. */
export const schemaTaken = (cause?: unknown) =>
  new Error(
    'the schema has time logs already, under another entityPrefix or made by synchronize: give each DataSource with time logs a schema of its own, or drop what synchronize has made',
    { cause },
  );
