import { type Redact, removedMark, sanitizeId, sanitizeText, trimmedMark } from './redact-text.ts';

const maxListLength = 20;
const maxTokenLength = 64;
const maxMapMembers = 100;
const maxDepth = 8;

/**
 * Maximum number of kept values. A request with 20 products, each with its offers and their phases, has about 1,500.
 */
const maxValues = 5_000;

/**
 * Kind of value that a field can have. `text` is human-readable, `token` a short constant. `number` and `date` can be
 * strings. `container` is an object or list whose fields are checked in turn, `map` an object by product id.
 */
type FieldKind = 'id' | 'text' | 'token' | 'number' | 'date' | 'flag' | 'container' | 'map';

/**
 * Allowlist of fields, so that a new or misused field cannot bring a receipt, signature, key or token into the log. The
 * purchase token of Google Play is kept in ids only, because the specification makes it the `purchaseId`. Readers of
 * events have the secret key and so the same ids; using the token at the store also requires the developer's
 * credentials.
 */
const fieldsByKind: Readonly<Record<FieldKind, readonly string[]>> = {
  id: [
    'applicationUsername',
    'discountId',
    'entitledUsers',
    'from',
    'grantId',
    'id',
    'idempotencyKey',
    'mergeId',
    'offerId',
    'productId',
    'productIds',
    'purchaseId',
    'purchaseIds',
    'reqId',
    'skuId',
    'storeId',
    'transactionId',
    'webhook-id',
  ],
  text: ['message', 'reason', 'route', 'title', 'warning'],
  token: [
    'action',
    'adapter',
    'billingPeriod',
    'billingPeriodUnit',
    'cancelationReason',
    'code',
    'content-type',
    'countryCode',
    'currency',
    'currentVersion',
    'entitlement',
    'group',
    'include_notifications',
    'introPricePeriod',
    'introPricePeriodUnit',
    'isReportedAmount',
    'kind',
    'mode',
    'model',
    'offerType',
    'originalVersion',
    'paymentMode',
    'platform',
    'plugin',
    'price',
    'priceConsentStatus',
    'productType',
    'receipts',
    'recurrenceMode',
    'renewalIntent',
    'status',
    'trialPeriod',
    'trialPeriodUnit',
    'type',
    'user-agent',
    'version',
  ],
  number: [
    'amountMicros',
    'amountUSD',
    'attempt',
    'days',
    'introPriceMicros',
    'limit',
    'offset',
    'priceMicros',
    'quantity',
    'skip',
    'webhook-timestamp',
  ],
  date: [
    'autoResumeDate',
    'date',
    'enddate',
    'expirationDate',
    'expiryDate',
    'lastRenewalDate',
    'purchaseDate',
    'renewalIntentChangeDate',
    'startdate',
    'until',
  ],
  flag: [
    'dryRun',
    'ineligible',
    'isAcknowledged',
    'isBillingRetryPeriod',
    'isConfirmed',
    'isConsumed',
    'isExpired',
    'isIntroPeriod',
    'isPaused',
    'isPending',
    'isSharedPurchase',
    'isSuspended',
    'isTrialPeriod',
    'activeSubscriber',
    'lapsedSubscriber',
    'latest_receipt',
    'ok',
    'sandbox',
  ],
  container: [
    'additionalData',
    'collection',
    'customerInfo',
    'data',
    'device',
    'error',
    'license',
    'notification',
    'offers',
    'pricingPhases',
    'products',
    'purchase',
    'storeAnswer',
    'subscription',
    'transaction',
    'transactions',
  ],
  map: ['purchases'],
};

const kindByField = new Map(
  (Object.entries(fieldsByKind) as [FieldKind, readonly string[]][]).flatMap(([kind, fields]) =>
    fields.map((field) => [field, kind] as const),
  ),
);

/** Fields whose value is always removed but whose name is kept. Names of other unlisted fields can be secrets, too. */
const secretFields = new Set([
  'accessToken',
  'apiKey',
  'appStoreReceipt',
  'clientToken',
  'deviceData',
  'jwsRepresentation',
  'newAccessToken',
  'obfuscatedUsername',
  'password',
  'paymentMethodNonce',
  'purchaseToken',
  'receipt',
  'serviceTicket',
  'signature',
  'storeIdKey_collections',
  'storeIdKey_purchase',
  'storeIdKey_purchases',
  'transactionReceipt',
  'webhook-signature',
]);

interface SanitizeOptions {
  /** Collects the removed texts, so that they can be removed from messages that repeat them. */
  readonly secrets?: Set<string>;
  /** Applied to human-readable texts. Not needed for a request, whose texts do not repeat its secrets. */
  readonly redact?: Redact;
}

interface SanitizeState extends Required<SanitizeOptions> {
  readonly kind: FieldKind;
  readonly depth: number;
  /** Number of values so far, at any depth. */
  readonly count: { values: number };
}

const sanitizeStringByKind: Readonly<Record<FieldKind, (text: string, redact: Redact) => string>> = {
  id: sanitizeId,
  text: (text, redact) => sanitizeText(redact(text)),
  token: (text) => (text.length > maxTokenLength ? removedMark : sanitizeText(text)),
  number: (text) => (/^-?[\d.,]{1,20}$/.test(text) ? text : removedMark),
  date: (text) => (/^[\dTZ:. +-]{1,40}$/.test(text) ? text : removedMark),
  flag: (text) => (text === 'true' || text === 'false' ? text : removedMark),
  container: () => removedMark,
  map: () => removedMark,
};

const maxCollectedSecrets = 1000;

/**
 * Keeps only allowlisted fields with values of their kind. Marks what was removed, and long texts and lists it trimmed.
 */
export function sanitize(
  value: unknown,
  { secrets = new Set(), redact = (text) => text }: SanitizeOptions = {},
): unknown {
  return sanitizeAt(value, { kind: 'container', depth: 0, count: { values: 0 }, secrets, redact });
}

/**
 * Returns the texts that `sanitize` removes from a value, so that they can be removed from messages that repeat them.
 */
export function findSecrets(value: unknown): ReadonlySet<string> {
  const secrets = new Set<string>();
  sanitize(value, { secrets });
  return secrets;
}

function sanitizeAt(value: unknown, state: SanitizeState): unknown {
  if (state.count.values++ >= maxValues) {
    collectSecrets(value, state.secrets);
    return trimmedMark;
  }
  if (typeof value === 'string') return sanitizeString(value, state);
  if (typeof value === 'number') return isStorable(value) ? value : removedMark;
  if (typeof value !== 'object' || value === null) return value;
  if (state.depth >= maxDepth) {
    collectSecrets(value, state.secrets);
    return trimmedMark;
  }
  const deeper = { ...state, depth: state.depth + 1 };
  if (Array.isArray(value)) return sanitizeList(value, deeper);
  return state.kind === 'map' ? sanitizeMembers(value, deeper) : sanitizeFields(value, deeper);
}

/**
 * Clients send numbers that DynamoDB cannot store. The bounds are inside its range of 1E-130 to 9.9E+125.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const isStorable = (value: number): boolean => value === 0 || (Math.abs(value) > 1e-100 && Math.abs(value) < 1e100);

function sanitizeString(text: string, { kind, secrets, redact }: SanitizeState): string {
  const sanitized = sanitizeStringByKind[kind](text, redact);
  if (sanitized === removedMark) collectSecrets(text, secrets);
  return sanitized;
}

/** Replaces unlisted fields by their number, because a field name can be a secret, too. */
function sanitizeFields(value: object, state: SanitizeState): Record<string, unknown> {
  const fields = Object.entries(value);
  const listed = fields.flatMap(([field, inner]) => {
    const kind = getFieldKind(field);
    if (kind) return [[field, sanitizeAt(inner, { ...state, kind })] as const];
    collectSecrets(inner, state.secrets);
    if (!isSecretField(field)) {
      collectSecrets(field, state.secrets);
      return [];
    }
    // Added even if the limit of collected secrets is reached.
    if (typeof inner === 'string') state.secrets.add(inner);
    return [[field, removedMark] as const];
  });
  const unlisted = fields.filter(([field]) => !getFieldKind(field) && !isSecretField(field)).length;
  return { ...Object.fromEntries(listed), ...(unlisted > 0 && { [removedMark]: unlisted }) };
}

/** Sanitizes a map such as `purchases`, whose keys are `{platform}:{productId}`. */
function sanitizeMembers(value: object, state: SanitizeState): Record<string, unknown> {
  const members = Object.entries(value).slice(0, maxMapMembers);
  return Object.fromEntries(
    members.map(([name, member]) => [
      /^[a-z_]{5,20}:./.test(name) ? sanitizeId(name) : removedMark,
      sanitizeAt(member, { ...state, kind: 'container' }),
    ]),
  );
}

function sanitizeList(list: readonly unknown[], state: SanitizeState): unknown[] {
  const kind = state.kind === 'map' ? 'container' : state.kind;
  const sanitized = list.slice(0, maxListLength).map((element) => sanitizeAt(element, { ...state, kind }));
  if (list.length <= maxListLength) return sanitized;
  collectSecrets(list.slice(maxListLength), state.secrets);
  return [...sanitized, `${trimmedMark} ${list.length - maxListLength} more`];
}

/** Collects all texts of a removed value. Iterates by level, because the value can be nested arbitrarily deep. */
function collectSecrets(removed: unknown, secrets: Set<string>): void {
  let level: unknown[] = [removed];
  while (level.length > 0 && secrets.size < maxCollectedSecrets) {
    const inner = level.filter((value) => typeof value === 'object' && value !== null) as object[];
    const names = inner.flatMap(listKeys).filter((name) => !getFieldKind(name) && !isSecretField(name));
    const texts = level.filter((value) => typeof value === 'string');
    for (const text of [...texts, ...names].slice(0, maxCollectedSecrets)) secrets.add(text);
    level = inner.flatMap((value) => Object.values(value) as unknown[]);
  }
}

const listKeys = (value: object): string[] => (Array.isArray(value) ? [] : Object.keys(value));

/** Returns the kind of a field, or undefined for a field that is not on the allowlist. */
const getFieldKind = (field: string): FieldKind | undefined => kindByField.get(field);

const isSecretField = (field: string): boolean => secretFields.has(field);
