import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../infra/project-folder.ts';
import { findTypeProblem, type PublishedTypes, parsePublishedTypes } from './published-types.ts';

/** An operation of a store's API in a library that is generated from the store's document. */
export interface PublishedOperation {
  readonly method: string;
  readonly path: RegExp;
  readonly parameters: ReadonlySet<string>;
  /** Type of the JSON body, and the types that it consists of. */
  readonly body?: { readonly type: string; readonly types: PublishedTypes };
}

const read = (file: string): string => readFileSync(join(projectFolder, 'node_modules', file), 'utf8');
const escapePattern = (text: string): string => text.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
const toPattern = (template: string, variable: RegExp): RegExp =>
  new RegExp(`^${template.split(variable).map(escapePattern).join('[^/]+')}$`);

/** Lists the operations of `stripe`, which is generated from Stripe's OpenAPI document, with their parameters. */
export function listStripeOperations(): readonly PublishedOperation[] {
  const folder = join(projectFolder, 'node_modules/stripe/esm/resources');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  return files.flatMap((file) => {
    const source = readFileSync(join(folder, file), 'utf8');
    const types = readFileSync(join(folder, file.replace(/\.js$/, '.d.ts')), 'utf8');
    const calls = source.matchAll(/^ {4}(\w+)\([^)]*\) \{\n\s+return this\._makeRequest\('(\w+)', ['`]([^'`]+)['`]/gm);
    return [...calls].map(([, name = '', method = '', template = '']) => ({
      method,
      path: toPattern(template, /\$\{[^}]+\}/),
      parameters: findStripeParameters(types, name),
    }));
  });
}

function findStripeParameters(types: string, method: string): ReadonlySet<string> {
  const [, name = ''] = new RegExp(`^ {4}${method}\\(.*?params\\??: (?:\\w+\\.)?(\\w+)`, 'm').exec(types) ?? [];
  const [, inherited = '', body = ''] =
    new RegExp(`interface ${name}( extends PaginationParams)? \\{\\n([\\s\\S]*?)\\n\\s*\\}\\n`).exec(types) ?? [];
  const own = [...body.matchAll(/^ {4,8}'?(\w+)'?\??:/gm)].map(([, member = '']) => member);
  return new Set([...own, ...(inherited ? ['limit', 'starting_after', 'ending_before'] : [])]);
}

/** Lists the operations of `@googleapis/androidpublisher`, which is generated from Google's discovery document. */
export function listGooglePlayOperations(): readonly PublishedOperation[] {
  const source = read('@googleapis/androidpublisher/build/v3.js');
  const types = parsePublishedTypes(read('@googleapis/androidpublisher/build/v3.d.ts'));
  const standard = types.interfaces.get('StandardParameters')?.keys() ?? [];
  const common = [...standard];
  let [resource, name] = ['', ''];
  return [
    ...source.matchAll(
      /class (Resource\$[\w$]+)|^ {8}(\w+)\(paramsOrCallback|'(\/androidpublisher\/v3\/[^']+)'[^{}]*?method: '(\w+)'/gm,
    ),
  ].flatMap(([, foundResource, foundName, template, method = '']) => {
    resource = foundResource ?? resource;
    name = foundName ?? name;
    if (template === undefined) return [];
    const members = types.interfaces.get(`Params$${resource}$${name.charAt(0).toUpperCase()}${name.slice(1)}`);
    const type = members?.get('requestBody')?.type;
    return [
      {
        method,
        path: toPattern(template, /\{[^}]+\}/),
        parameters: new Set([...common, ...(members?.keys() ?? [])]),
        ...(type !== undefined && { body: { type, types } }),
      },
    ];
  });
}

/** Lists the operations of Apple's own library for the App Store Server API. */
export function listAppStoreOperations(): readonly PublishedOperation[] {
  const source = read('@apple/app-store-server-library/dist/index.js');
  const declarations = read('@apple/app-store-server-library/dist/index.d.ts');
  const models = readdirSync(join(projectFolder, 'node_modules/@apple/app-store-server-library/dist/models'));
  const types = parsePublishedTypes(
    models
      .filter((file) => file.endsWith('.d.ts'))
      .map((file) => read(`@apple/app-store-server-library/dist/models/${file}`))
      .join('\n'),
  );
  let name = '';
  let parameters = new Set<string>();
  return [
    ...source.matchAll(
      /^ {4}async (\w+)\(|queryParameters\["(\w+)"\]|makeRequest\(("\/inApps.+?), "(\w+)", [^,]+, (\w+),/gm,
    ),
  ].flatMap(([, foundName, parameter, expression, method = '', argument = '']) => {
    if (foundName !== undefined) [name, parameters] = [foundName, new Set()];
    if (parameter !== undefined) parameters.add(parameter);
    if (expression === undefined) return [];
    const template = expression.replaceAll(/" \+ \w+ \+ "|" \+ \w+$/g, '{id}').replaceAll('"', '');
    const [, type] = new RegExp(`^ {4}${name}\\(.*\\b${argument}: (\\w+)`, 'm').exec(declarations) ?? [];
    return [
      { method, path: toPattern(template, /\{id\}/), parameters, ...(type !== undefined && { body: { type, types } }) },
    ];
  });
}

interface SentRequest {
  readonly method: string;
  readonly url: URL;
  /** A form, or JSON. */
  readonly body: string;
}

/** Describes why a request does not fit the operations. Undefined if it does. */
export function findRequestProblem(sent: SentRequest, operations: readonly PublishedOperation[]): string | undefined {
  const { method, url, body } = sent;
  const request = `${method} ${url.pathname}`;
  const matches = operations.filter(({ path, method: expected }) => expected === method && path.test(url.pathname));
  if (matches.length === 0) return `${request} is not an operation of the API.`;
  const form = body.startsWith('{') ? '' : body;
  const names = [...url.searchParams.keys(), ...new URLSearchParams(form).keys()].map(
    (name) => name.split('[', 1)[0] ?? name,
  );
  const unknown = names.find((name) => matches.every(({ parameters }) => !parameters.has(name)));
  if (unknown !== undefined) return `${request} does not have the parameter ${unknown}.`;
  if (!body.startsWith('{')) return undefined;
  const problems = matches.map((operation) => findBodyProblem(body, operation));
  return problems.includes(undefined) ? undefined : `${request}: ${problems[0]}.`;
}

function findBodyProblem(text: string, { body }: PublishedOperation): string | undefined {
  const value: unknown = JSON.parse(text);
  if (body) return findTypeProblem(value, body.type, body.types);
  return Object.keys(Object(value)).length === 0 ? undefined : 'the operation has no body';
}
