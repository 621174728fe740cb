import type { ApiExample } from './api-examples.ts';

interface RequestExample extends Pick<ApiExample, 'path' | 'key' | 'body'> {
  readonly method: string;
}

/** Renders a request as a command. A quotation mark of the body ends the quoted text of the shell for itself. */
export function renderCurl({ method, path, key, body }: RequestExample): string {
  const usualMethod = body === undefined ? 'GET' : 'POST';
  const target = `curl -sS${method === usualMethod ? '' : ` -X ${method}`} -u "$APP:$${key.toUpperCase()}" "$API${path}"`;
  if (body === undefined) return target;
  const text = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return `${target} -H 'Content-Type: application/json' -d '${text}'`;
}

/** Renders a request in JavaScript for browsers and Node, without a library. */
export function renderFetch({ method, path, key, body }: RequestExample): string {
  const members = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    `headers: { Authorization: \`Basic \${btoa(\`\${app}:\${${key}Key}\`)}\`${body === undefined ? '' : ", 'Content-Type': 'application/json'"} },`,
    ...(body === undefined ? [] : [`body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`]),
  ];
  return [
    `const response = await fetch(\`\${api}${path}\`, {`,
    ...members.map((member) => `  ${member}`),
    '});',
    'console.log(response.status, await response.json());',
  ].join('\n');
}

/** Renders a request in Python with the package requests. */
export function renderPython({ method, path, key, body }: RequestExample): string {
  const call = `requests.${method.toLowerCase()}(api + ${JSON.stringify(path)}, auth=(app, ${key}_key)`;
  const json = body === undefined ? '' : `, json=${toPython(body)}`;
  return `response = ${call}${json})\nprint(response.status_code, response.json())`;
}

const pythonLiterals: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** A text in quotation marks is the same in both languages. */
const toPython = (body: unknown): string =>
  JSON.stringify(body, null, 2).replaceAll(
    /"(?:[^"\\]|\\.)*"|true|false|null/g,
    (token) => pythonLiterals[token] ?? token,
  );
