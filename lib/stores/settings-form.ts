import type * as v from 'valibot';

/** How the settings of a store are shown in a form. */
export interface SettingsForm {
  readonly entries: v.ObjectEntries;
  /** Settings that responses can contain. All others are secret. */
  readonly shown: readonly string[];
}

type Settings = Readonly<Record<string, unknown>>;

/** Kinds of fields by the schema of their value. Other values are entered as JSON. */
const kinds = { string: 'text', number: 'number', boolean: 'boolean', picklist: 'choice', array: 'json' } as const;

type Entry = v.ObjectEntries[string] & { readonly wrapped?: v.GenericSchema; readonly options?: readonly string[] };

/** Lists the fields of the form in the order of the schema, with the stored values that are not secret. */
export const listSettingsFields = ({ entries, shown }: SettingsForm, stored: Settings = {}) =>
  Object.entries(entries).map(([name, entry]: [string, Entry]) => {
    const { type, options }: Entry = entry.wrapped ?? entry;
    const isSecret = !shown.includes(name);
    const value = stored[name];
    return {
      name,
      kind: kinds[type as keyof typeof kinds] ?? 'json',
      isRequired: entry.wrapped === undefined,
      isSecret,
      isSet: value !== undefined,
      ...(options && type === 'picklist' && { choices: [...options] }),
      ...(!isSecret && value !== undefined && { value }),
    };
  });

/** Returns the stored settings with the changes: null removes a setting, and an absent one stays. */
export const mergeSettings = (stored: unknown, changes: Settings): Settings =>
  Object.fromEntries(Object.entries({ ...(stored as object), ...changes }).filter(([, value]) => value !== null));
