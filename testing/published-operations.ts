import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../infra/project-folder.ts';

/** An operation of a store's API in a library that is generated from the store's document. */
export interface PublishedOperation {
  readonly method: string;
  readonly path: RegExp;
  /** Names of the parameters. Undefined if the library does not have them. */
  readonly parameters?: ReadonlySet<string>;
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
  const types = read('@googleapis/androidpublisher/build/v3.d.ts');
  const parameters = new Set(
    [...types.matchAll(/interface Params\$Resource\$\S+ extends StandardParameters \{\n([\s\S]*?)\n {4}\}/g)].flatMap(
      ([, body = '']) =>
        [...body.matchAll(/^ {8}(?:'([\w.]+)'|(\w+))\?:/gm)].map(([, quoted, name]) => quoted ?? name ?? ''),
    ),
  );
  return [...source.matchAll(/'(\/androidpublisher\/v3\/[^']+)'[^{}]*?method: '(\w+)'/g)].map(
    ([, template = '', method = '']) => ({ method, path: toPattern(template, /\{[^}]+\}/), parameters }),
  );
}

/** Lists the operations of Apple's own library for the App Store Server API. */
export function listAppStoreOperations(): readonly PublishedOperation[] {
  const source = read('@apple/app-store-server-library/dist/index.js');
  return [...source.matchAll(/makeRequest\(("\/inApps[^,]+?"|"\/inApps.+?), "(\w+)"/g)].map(
    ([, expression = '', method = '']) => {
      const template = expression.replaceAll(/" \+ \w+ \+ "|" \+ \w+$/g, '{id}').replaceAll('"', '');
      return { method, path: toPattern(template, /\{id\}/) };
    },
  );
}

/** Describes why a request does not fit the operations. Undefined if it does. */
export function findRequestProblem(
  { method, url, body }: { readonly method: string; readonly url: URL; readonly body: string },
  operations: readonly PublishedOperation[],
): string | undefined {
  const request = `${method} ${url.pathname}`;
  const matches = operations.filter(({ path, method: expected }) => expected === method && path.test(url.pathname));
  if (matches.length === 0) return `${request} is not an operation of the API.`;
  const names = [...url.searchParams.keys(), ...new URLSearchParams(body).keys()].map(
    (name) => name.split('[', 1)[0] ?? name,
  );
  const unknown = names.find((name) =>
    matches.every(({ parameters }) => parameters !== undefined && !parameters.has(name)),
  );
  return unknown === undefined ? undefined : `${request} does not have the parameter ${unknown}.`;
}
