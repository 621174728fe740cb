/** Returns the values that are defined. */
export const listDefined = (values: readonly (string | undefined)[]): string[] =>
  values.filter((value) => value !== undefined);
