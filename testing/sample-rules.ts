import { readSample } from './documents.ts';

/** Decision of a sample about access: `undefined` keeps the current access. */
type AccessRule = (response: unknown, productId: string) => boolean | undefined;

/** The rules of a sample: the decision, and the codes whose transactions it finishes. */
export interface SampleRules {
  readonly decideAccess: AccessRule;
  readonly endedCodes: readonly number[];
}

/** Replacements that turn the rule of a language into JavaScript, applied in order. */
type Translation = readonly (readonly [pattern: RegExp, replacement: string])[];

interface Language {
  readonly file: string;
  readonly name: string;
  /** The text of the rule, from the codes to the end of the function. */
  readonly rule: RegExp;
  readonly translation: Translation;
  /** JavaScript that the translated rule needs. */
  readonly runtime: string;
}

const access = `
  const Access = { granted: true, denied: false, unchanged: undefined, GRANTED: true, DENIED: false, UNCHANGED: undefined };
`;

const swift: Language = {
  file: 'docs/samples/PurchaseObserver.swift',
  name: 'swift',
  rule: /func decideAccess[\s\S]+?\n\}/,
  translation: [
    [
      /func decideAccess\(_ response: ValidationResponse\?, productId: String\) -> Access/,
      'function rule(response, productId)',
    ],
    [/guard let response else \{ return (\S+) \}/, 'if (!response) return $1;'],
    [
      /if response\.ok, let purchases = response\.data\?\.collection \{/,
      'const purchases = response.data?.collection; if (response.ok && purchases) {',
    ],
    [
      /purchases\.contains \{ \$0\.id == productId && \$0\.isExpired != true \}/,
      'purchases.some((item) => item.id === productId && item.isExpired !== true)',
    ],
    [/deniedCodes\.contains\((.+?) \?\? 0\)/, 'deniedCodes.includes($1 ?? 0)'],
    [/(?<=[ (])\.(granted|denied|unchanged)/g, 'Access.$1'],
  ],
  // `JSONDecoder` throws if a member has another type than `ValidationResponse`, and the sample passes nil.
  runtime: `${access}
    const isPurchase = (item) => typeof item?.id === 'string' && (item.isExpired == null || typeof item.isExpired === 'boolean');
    const isResponse = (body) => typeof body?.ok === 'boolean' && (body.code == null || Number.isInteger(body.code)) &&
      (body.data == null || (typeof body.data === 'object' && (body.data.collection == null ||
        (Array.isArray(body.data.collection) && body.data.collection.every(isPurchase)))));
    const decideAccess = (body, productId) => rule(isResponse(body) ? body : undefined, productId);
  `,
};

const kotlin: Language = {
  file: 'docs/samples/PurchaseObserver.kt',
  name: 'kotlin',
  rule: /fun decideAccess[\s\S]+?\n\}/,
  translation: [
    [/fun decideAccess\(response: JSONObject\?, productId: String\): Access/, 'function rule(response, productId)'],
    [/\bval (\w+) =/g, 'const $1 ='],
    [/\(0 until purchases\.length\(\)\)/, '[...Array(purchases.length()).keys()]'],
    [/\.map \{ purchases\.getJSONObject\(it\) \}/, '.map((it) => purchases.getJSONObject(it))'],
    [/\.any \{ (it\..+?) \}/, '.some((it) => $1)'],
    [/return if (\(.+\)) (\S+) else (\S+)/g, 'return $1 ? $2 : $3;'],
    [/deniedCodes\.contains\(/, 'deniedCodes.includes('],
  ],
  // The methods of org.json that the sample calls. `JSONObject(text)` throws for anything but an object.
  runtime: `${access}
    const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
    const toArray = (items) => ({ length: () => items.length, getJSONObject: (index) => toObject(items[index]) });
    const toObject = (members) => ({
      opt: (name) => members[name],
      optString: (name) => String(members[name] ?? ''),
      optBoolean: (name) => members[name] === true,
      optInt: (name) => Number(members[name] ?? 0),
      optJSONObject: (name) => (isObject(members[name]) ? toObject(members[name]) : null),
      optJSONArray: (name) => (Array.isArray(members[name]) ? toArray(members[name]) : null),
    });
    const decideAccess = (body, productId) => rule(isObject(body) ? toObject(body) : null, productId);
  `,
};

const dart: Language = {
  file: 'docs/samples/purchase_observer.dart',
  name: 'flutter',
  rule: /Access decideAccess[\s\S]+?\n\}/,
  translation: [
    [/Access decideAccess\(dynamic response, String productId\)/, 'function decideAccess(response, productId)'],
    [/\bfinal (\w+) =/g, 'const $1 ='],
    [/(\w+) is! Map/g, '!isMap($1)'],
    [/(\w+) is Map/g, 'isMap($1)'],
    [/(\w+) is List/g, 'Array.isArray($1)'],
    [/\.any\(/g, '.some('],
    [/deniedCodes\.contains\(/, 'deniedCodes.includes('],
  ],
  runtime: `${access}
    const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  `,
};

const javaScript = (file: string, name: string): Language => ({
  file,
  name,
  rule: /(?<=^|export )function decideAccess[\s\S]+?\n\}/m,
  translation: [],
  runtime: '',
});

export const sampleLanguages: readonly Language[] = [
  javaScript('docs/guides/plain-app.md', 'rule'),
  javaScript('docs/guides/flutter-expo-react-native.md', 'purchase-validator'),
  swift,
  kotlin,
  dart,
];

/** Reads a set of codes of a sample. The languages write it in different brackets. */
export const readCodes = (text: string, name: string): readonly number[] =>
  (new RegExp(`${name}\\b[^=\\n]*= ?(?:setOf)?[[({]([\\d, ]+)[\\])}]`).exec(text)?.[1] ?? '').split(', ').map(Number);

/**
 * Makes the rule of a sample executable. Swift, Kotlin and Dart are translated line by line.
 * Throws if the sample lacks a text that the translation expects.
 */
export function readSampleRules({ file, name, rule, translation, runtime }: Language): SampleRules {
  const text = readSample(file, name);
  const [source] = rule.exec(text) ?? [];
  if (source === undefined) throw new Error(`${file} ${name} lacks the decision about access.`);
  const code = translation.reduce((translated, [pattern, replacement]) => {
    if (translated.search(pattern) < 0) throw new Error(`${file} ${name}: the rule has no text like ${pattern}.`);
    return translated.replace(pattern, replacement);
  }, source);
  const deniedCodes = readCodes(text, 'deniedCodes');
  const body = `const deniedCodes = ${JSON.stringify(deniedCodes)}; ${runtime}; ${code}; return decideAccess;`;
  return { decideAccess: new Function(body)() as AccessRule, endedCodes: readCodes(text, 'endedCodes') };
}
