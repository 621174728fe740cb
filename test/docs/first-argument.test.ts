import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';

interface Declaration {
  readonly identifier?: { readonly value: string };
  readonly params?: readonly unknown[];
  readonly declarations?: readonly { readonly id: { readonly value?: string }; readonly init?: Declaration }[];
}

/** The files of the features. The functions of an adapter take a `StoreContext`. */
const files = readdirSync('lib', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/^stores\/.+\//.test(file))
  .map((file) => [file, readFileSync(`lib/${file}`, 'utf8')] as const);

const contexts = files.flatMap(([, text]) =>
  [...text.matchAll(/interface (\w+) extends \w*Context/g)].map(([, name]) => name),
);
const contextName = new RegExp(`"value":"(service|Service|OperationContext|${contexts.join('|')})"`);

function listFunctions({ identifier, params, declarations = [] }: Declaration): [name: string, params: unknown[]][] {
  if (identifier && params) return [[identifier.value, [...params]]];
  return declarations.flatMap(({ id, init }) => (id.value && init?.params ? [[id.value, [...init.params]]] : []));
}

const functions = files.flatMap(([file, text]) =>
  parseSync(text, { syntax: 'typescript' }).body.flatMap((item) =>
    item.type === 'ExportDeclaration'
      ? listFunctions(item.declaration as Declaration).map(([name, params]) => ({ name: `${file} ${name}`, params }))
      : [],
  ),
);

it('keeps the service record and an operation context to the first argument of each function', () => {
  // Without default values.
  const print = (params: unknown) => JSON.stringify(params, (key, value) => (key === 'right' ? null : value));
  const others = functions.filter(({ params: [, ...later] }) => contextName.test(print(later)));
  expect(others.map(({ name }) => name)).toEqual([]);
  expect(functions.length).toBeGreaterThan(1000);
});
