/** Formats the examples for the end of a command's help. Each is a command without the options of the connection. */
export const formatExamples = (...examples: readonly string[]): string =>
  ['', examples.length === 1 ? 'Example:' : 'Examples:', ...examples.map((example) => `  claimcheck ${example}`)].join(
    '\n',
  );
