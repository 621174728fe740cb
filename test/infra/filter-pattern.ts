/**
 * Evaluates a CloudWatch filter pattern for JSON log events. Supports `=`, `!=`, `NOT EXISTS`, `&&`, `||` and
 * parentheses.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
export function matchesFilterPattern(pattern: string, line: string): boolean {
  const body = /^\{(.*)\}$/s.exec(pattern)?.[1];
  if (body === undefined) throw new Error(`The pattern is not a JSON pattern: ${pattern}`);
  return parseOr({ tokens: tokenize(body), event: JSON.parse(line) });
}

interface Evaluation {
  readonly tokens: string[];
  readonly event: unknown;
}

function tokenize(text: string): string[] {
  const tokens = text.match(/\(|\)|&&|\|\||!=|=|NOT EXISTS|"(?:[^"\\]|\\.)*"|\$[\w.]+|\S+/g) ?? [];
  return [...tokens];
}

function parseOr(evaluation: Evaluation): boolean {
  let result = parseAnd(evaluation);
  while (evaluation.tokens[0] === '||') {
    evaluation.tokens.shift();
    result = parseAnd(evaluation) || result;
  }
  return result;
}

function parseAnd(evaluation: Evaluation): boolean {
  let result = parseTerm(evaluation);
  while (evaluation.tokens[0] === '&&') {
    evaluation.tokens.shift();
    result = parseTerm(evaluation) && result;
  }
  return result;
}

function parseTerm(evaluation: Evaluation): boolean {
  const { tokens, event } = evaluation;
  const token = tokens.shift() ?? '';
  if (token === '(') {
    const result = parseOr(evaluation);
    if (tokens.shift() !== ')') throw new Error('The pattern has an open parenthesis.');
    return result;
  }
  const value = selectProperty(event, token);
  const operator = tokens.shift();
  if (operator === 'NOT EXISTS') return value === undefined;
  const expected = JSON.parse(tokens.shift() ?? '') as unknown;
  // A comparison with a missing property is false.
  if (value === undefined) return false;
  if (operator === '=') return value === expected;
  if (operator === '!=') return value !== expected;
  throw new Error(`The operator ${operator} is not supported.`);
}

function selectProperty(event: unknown, selector: string): unknown {
  const names = selector.split('.').slice(1);
  return names.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined,
    event,
  );
}
