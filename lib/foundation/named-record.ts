import * as v from 'valibot';

/** Names of each object. Valibot drops some of them without an issue. */
const reservedNames: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

const refuseReservedNames = v.rawCheck<unknown>(({ dataset, addIssue }) => {
  const input = Object(dataset.value) as Readonly<Record<string, unknown>>;
  const name = Object.keys(input).find((key) => reservedNames.has(key));
  if (name === undefined) return;
  addIssue({
    message: 'another name: this one is reserved',
    path: [{ type: 'object', origin: 'key', input: { ...input }, key: name, value: input[name] }],
  });
});

/** Returns a record whose names a person chooses. Refuses names that JavaScript reserves, such as `__proto__`. */
export const namedRecord = <K extends v.GenericSchema<string, string>, V extends v.GenericSchema>(name: K, value: V) =>
  v.pipe(v.unknown(), refuseReservedNames, v.record(name, value));
