/**
 * Matches an event with a Lambda event filter pattern. Throws for a rule that is not implemented.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html
 */
export function matchesPattern(event: unknown, pattern: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((rule) => matchesRule(event, rule));
  if (typeof pattern !== 'object' || pattern === null) return event === pattern;
  return Object.entries(pattern).every(([name, inner]) => {
    if (name.startsWith('$')) throw notImplemented(name);
    return matchesPattern(getMember(event, name), inner);
  });
}

const getMember = (event: unknown, name: string): unknown =>
  typeof event === 'object' && event !== null ? (event as Readonly<Record<string, unknown>>)[name] : undefined;

type Test = (value: unknown, argument: unknown) => boolean;

const operators: Readonly<Record<string, Test>> = {
  prefix: (value, argument) => typeof value === 'string' && value.startsWith(String(argument)),
  exists: (value, argument) => (value !== undefined) === argument,
};

function matchesRule(value: unknown, rule: unknown): boolean {
  if (typeof rule !== 'object' || rule === null) return value === rule;
  return Object.entries(rule).every(([name, argument]) => {
    const test = operators[name];
    if (!test) throw notImplemented(name);
    return test(value, argument);
  });
}

const notImplemented = (rule: string): Error => new Error(`The filter rule ${rule} does not run on this machine.`);
