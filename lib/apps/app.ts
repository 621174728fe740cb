import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { maxRequestsPerSecond, minRequestsPerSecond } from '../api/limits.ts';
import { actionNames, OptionalBoolean, OptionalNumber, OptionalText, webhookEvents } from '../api/schemas.ts';
import { apiKeyPrefixes } from '../foundation/redaction/redact-text.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { vocabularies } from '../foundation/vocabulary.ts';
import { AppExchangeRates } from '../money/rates.ts';
import { CommissionRate } from './commission-rate-contract.ts';

/**
 * The entitlement strategies: all claimants, the first claimant, the claimant who validated last, or the one who
 * validated last while the purchase gave the current owner no access.
 */
export const strategies = ['all', 'first', 'last', 'last-if-inactive'] as const;
export const Strategy = v.picklist(strategies);
export type Strategy = v.InferOutput<typeof Strategy>;

/** Hours of access after the expiration date of a renewing subscription while its store cannot be queried. */
export const defaultUnverifiedHours = 24;

/** Maximum that an app can set. */
export const maxUnverifiedHours = 168;

/** Hours after the expiration date of a renewing subscription. 0: access ends on the date. */
const UnverifiedHours = v.pipe(v.number(), v.minValue(0), v.maxValue(maxUnverifiedHours));

const RequestsPerSecond = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(minRequestsPerSecond),
  v.maxValue(maxRequestsPerSecond),
);

/** Name of an app. It is part of URLs and the first part of all keys of the app's items. */
export const AppName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
  v.check((name) => name !== 'APP' && name !== 'FX', 'a name that is not reserved'),
);

/**
 * Levels of API keys. A public key validates and sells, a secret key may do everything, a viewer key may only read. A
 * support key reads, and may grant, link, refresh and replay.
 */
export const apiKeyLevels = ['public', 'secret', 'viewer', 'support'] as const;
export type ApiKeyLevel = (typeof apiKeyLevels)[number];

/** Name of an API key, for operators. */
export const ApiKeyName = v.pipe(
  v.string(),
  v.regex(/^[\p{L}\p{N} ._@+-]{1,64}$/u, '1 to 64 letters, digits, spaces and . _ @ + -'),
);

/** A stored API key: only its SHA-256 digest, in hex. */
export const ApiKey = v.object({
  digest: v.string(),
  /** Absent for the main key of its level, which `app create` and `app rotate-key` issue. */
  name: v.exactOptional(ApiKeyName),
  /** Epoch milliseconds. */
  createdAt: v.number(),
  /** Set on keys of limited validity and on the old key of a rotation. */
  expiresAt: OptionalNumber,
});
export type ApiKey = v.InferOutput<typeof ApiKey>;

/**
 * Which purchases of the stores' sandboxes give entitlements: all, none, or the purchases of listed customers, for
 * testers and the reviewers of the stores.
 */
export const SandboxRule = v.variant('rule', [
  v.object({ rule: v.picklist(['all', 'none']) }),
  v.object({ rule: v.literal('listed'), usernames: v.pipe(v.array(v.string()), v.maxLength(200)) }),
]);
export type SandboxRule = v.InferOutput<typeof SandboxRule>;

/** Validity of an entitlement token: 5 minutes to 24 hours. A refund takes effect at its end. */
const TokenMinutes = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(5, '5 to 1440 minutes'),
  v.maxValue(1_440, '5 to 1440 minutes'),
);

/** Names of actions at the stores. */
const SupportActions = v.array(v.picklist(actionNames));

/** `answer`: a refund request without a statement gets the prepared one shortly before its deadline. */
export const refundPolicies = ['silent', 'answer'] as const;

/** The lowest balance of credits that a refund leaves: zero, or a debt. */
export const creditFloors = ['zero', 'debt'] as const;
export type CreditFloor = (typeof creditFloors)[number];

/** Every request reads the item of the app, so the rates in it are small. */
const maxRates = 60;
const maxRatesLength = 4_000;

/** Rates of an app. They take precedence over the default rates. */
export const CommissionRates = v.pipe(
  v.array(CommissionRate),
  v.maxLength(maxRates, `at most ${maxRates} rates`),
  v.check((rates) => JSON.stringify(rates).length <= maxRatesLength, `rates of at most ${maxRatesLength} characters`),
  v.readonly(),
);
export type CommissionRates = v.InferOutput<typeof CommissionRates>;

/** Webhook URLs and options of an app. */
export const WebhookSettings = v.object({
  urls: v.array(v.string()),
  /** URLs for webhooks of sandbox purchases; if empty, `urls` receive them, too. */
  sandboxUrls: v.array(v.string()),
  /** Servers that verify signatures do not need the secret key in the body. */
  includesPassword: v.boolean(),
  /** Events other than purchase changes for which the app wants webhooks. */
  events: v.exactOptional(v.array(v.picklist(webhookEvents))),
});
export type WebhookSettings = v.InferOutput<typeof WebhookSettings>;

/** A tenant of the service: one client application with its API keys, settings and webhooks. */
export const App = v.object({
  name: AppName,
  publicKeys: v.array(ApiKey),
  secretKeys: v.array(ApiKey),
  viewerKeys: v.array(ApiKey),
  supportKeys: v.optional(v.array(ApiKey), []),
  strategy: Strategy,
  /** Vocabulary of webhooks and of responses to the secret key. Brand paths always use the brand vocabulary. */
  vocabulary: v.picklist(vocabularies),
  webhookSettings: v.exactOptional(WebhookSettings),
  /** Records successful reads as events. Default: true. */
  recordsReads: OptionalBoolean,
  /** Hours of access while a renewal cannot be verified. Default: `defaultUnverifiedHours`. */
  unverifiedHours: v.exactOptional(UnverifiedHours),
  /** Requests of one key that are accepted for an unlimited time. Default: `defaultRequestsPerSecond`. */
  requestsPerSecond: v.exactOptional(RequestsPerSecond),
  /** Rates of commission and tax for proceeds. They take precedence over the default rates. */
  commissionRates: v.exactOptional(CommissionRates),
  /** Rates of currencies that the European Central Bank does not publish. */
  exchangeRates: v.exactOptional(AppExchangeRates),
  /** Encrypted key of the digests of erased names. Absent until a customer of the app is erased. */
  erasureKey: OptionalText,
  /** Which purchases of the stores' sandboxes give entitlements. Default: all. */
  sandboxRule: v.exactOptional(SandboxRule),
  /** Validity of an entitlement token in minutes. Default: 60. */
  tokenMinutes: v.exactOptional(TokenMinutes),
  /** Actions at the stores that support keys may perform. Default: none. */
  supportActions: v.exactOptional(SupportActions),
  /** Policy for refund requests of the stores. Default: silent. */
  refundPolicy: v.exactOptional(v.picklist(refundPolicies)),
  /** Balance after a refund of spent credits. Default: zero, not below it. */
  creditFloor: v.exactOptional(v.picklist(creditFloors)),
  /** URL that receives alerts about the problems of the app. Empty or absent: no alerts. */
  alertUrl: OptionalText,
  createdAt: v.number(),
  deletedAt: OptionalNumber,
});
export type App = v.InferOutput<typeof App>;

/** Settings that one value changes. */
export const AppSettings = v.partial(
  v.pick(App, [
    ...(['strategy', 'vocabulary', 'recordsReads', 'unverifiedHours', 'requestsPerSecond', 'sandboxRule'] as const),
    ...(['tokenMinutes', 'supportActions', 'refundPolicy', 'creditFloor', 'alertUrl'] as const),
  ]),
);
export type AppSettings = v.InferInput<typeof AppSettings>;

/** An app with the decrypted secrets of its webhooks. */
export interface WebhookSender {
  readonly app: App;
  readonly secretKey: string;
  /** Undefined until webhook settings are saved. */
  readonly signingSecret?: string;
  /** The replaced one, until its overlap ends. */
  readonly formerSecret?: string;
}

/** A key as events name it. */
export interface VerifiedKey {
  readonly id: string;
  readonly name: string;
  readonly level: ApiKeyLevel;
}

const prefixes = apiKeyPrefixes satisfies Record<ApiKeyLevel, string>;

/** Matches an API key of this service. */
export const apiKeyPattern = new RegExp(`^(?:${Object.values(prefixes).join('|')})_[\\w-]{43}$`);

/** Name of the keys that `app create` and `app rotate-key` issue. */
export const mainKeyName = 'main';

type KeysMember = 'publicKeys' | 'secretKeys' | 'viewerKeys' | 'supportKeys';

/** The member of an app that contains the keys of a level. */
export const keysMembers = {
  public: 'publicKeys',
  secret: 'secretKeys',
  viewer: 'viewerKeys',
  support: 'supportKeys',
} as const satisfies Record<ApiKeyLevel, KeysMember>;

/** A digest that matches no key. */
const dummyKeys: readonly ApiKey[] = [{ digest: '0'.repeat(64), createdAt: 0 }];

/** Generates an API key: 256 random bits, prefixed with its level. */
export const generateApiKey = (level: ApiKeyLevel): string =>
  `${prefixes[level]}_${randomBytes(32).toString('base64url')}`;

export const isKeyOfLevel = (key: string, level: ApiKeyLevel): boolean =>
  apiKeyPattern.test(key) && key.startsWith(`${prefixes[level]}_`);

/** SHA-256 in hex. API keys are stored as digests only. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Returns the id of a key: the beginning of its digest, of 12 hexadecimal characters. */
export const getKeyId = ({ digest }: Pick<ApiKey, 'digest'>): string => digest.slice(0, 12);

/** Returns the keys of a level. */
export const getKeysOfLevel = (app: Pick<App, KeysMember>, level: ApiKeyLevel): readonly ApiKey[] =>
  app[keysMembers[level]];

/**
 * Finds the key of an app that matches and has not expired. Compares all digests in constant time. An unknown app takes
 * the same time as an app with one key of each level.
 */
export function findApiKey(key: string, app: App | undefined, now: EpochMillis): VerifiedKey | undefined {
  const keyDigest = Buffer.from(hashApiKey(key), 'hex');
  let verified: VerifiedKey | undefined;
  for (const level of apiKeyLevels) {
    const keys = app ? getKeysOfLevel(app, level) : [];
    for (const apiKey of keys.length > 0 ? keys : dummyKeys) {
      const equal = timingSafeEqual(keyDigest, Buffer.from(apiKey.digest, 'hex'));
      if (equal && (apiKey.expiresAt === undefined || apiKey.expiresAt > now))
        verified = { id: getKeyId(apiKey), name: apiKey.name ?? mainKeyName, level };
    }
  }
  return verified;
}
