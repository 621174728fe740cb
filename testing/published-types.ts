/** A member of a published interface. */
interface PublishedMember {
  readonly type: string;
  readonly isOptional: boolean;
}

/** Interfaces and enumerations of a library that is generated from the document of a store. */
export interface PublishedTypes {
  readonly interfaces: ReadonlyMap<string, ReadonlyMap<string, PublishedMember>>;
  readonly enums: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Reads the interfaces and enumerations of type declarations. */
export function parsePublishedTypes(declarations: string): PublishedTypes {
  const source = declarations.replaceAll(/\/\*[\s\S]*?\*\/\n?/g, '');
  const interfaces = source.matchAll(/interface ([\w$]+)[^{\n]*\{\n([\s\S]*?)^ {0,4}\}$/gm);
  const enums = source.matchAll(/enum (\w+) \{([\s\S]*?)\}/g);
  return {
    interfaces: new Map([...interfaces].map(([, name = '', body = '']) => [name, parseMembers(body)])),
    enums: new Map(
      [...enums].map(([, name = '', body = '']) => [
        name,
        new Set([...body.matchAll(/= "?([^",\n]+)/g)].map(([, value = '']) => value)),
      ]),
    ),
  };
}

const parseMembers = (body: string): ReadonlyMap<string, PublishedMember> =>
  new Map(
    [...body.matchAll(/^ +'?([\w.$]+)'?(\??):\s+([\s\S]+?);$/gm)].map(([, name = '', mark, type = '']) => [
      name,
      { type, isOptional: mark === '?' },
    ]),
  );

/** Describes why a JSON value does not fit a published type. Undefined if it does. */
export function findTypeProblem(value: unknown, type: string, types: PublishedTypes): string | undefined {
  const names = type.split(' | ').filter((name) => name !== 'null');
  const [name = ''] = names;
  const [, item] = /^(?:Array<)?([\w$]+)(?:>|\[\])$/.exec(name) ?? [];
  if (item !== undefined)
    return Array.isArray(value) ? findFirst(value, (element) => findTypeProblem(element, item, types)) : mismatch;
  const values = types.enums.get(name);
  if (values) return values.has(String(value)) ? undefined : `${JSON.stringify(value)} is not a ${name}`;
  const members = types.interfaces.get(name);
  if (!members) return names.includes(typeof value) ? undefined : `${JSON.stringify(value)} is not a ${type}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return mismatch;
  const missing = [...members].find(([member, { isOptional }]) => !isOptional && !(member in value));
  if (missing) return `${missing[0]} is missing`;
  return findFirst(Object.entries(value), ([member, memberValue]) => {
    const memberType = members.get(member)?.type;
    if (memberType === undefined) return `${name} has no ${member}`;
    const problem = findTypeProblem(memberValue, memberType, types);
    return problem && `${member}: ${problem}`;
  });
}

const mismatch = 'the value is of another type';

function findFirst<T>(values: readonly T[], find: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const problem = find(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
