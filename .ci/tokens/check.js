// Signs entitlement tokens as the service does, and compares the tokens that another library accepts with the valid
// ones. Usage: node --import tsx .ci/tokens/check.js write <file>, then: … compare <file> <library> with the verifier's
// output on stdin.
import { createPublicKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createLocalJWKSet, jwtVerify, SignJWT } from 'jose';
import {
  createTokenKeys,
  isPublished,
  rotateTokenKeys,
  signEntitlementToken,
  toPublicJwk,
} from '../../lib/entitlements/token-key.ts';

const now = Date.now();
const hourMs = 3_600_000;
const issuer = 'https://api.example.com';
const audience = 'demo';

const premium = {
  isActive: true,
  until: now + hourMs,
  willRenew: true,
  isSandbox: false,
  isInGracePeriod: false,
  source: { type: 'grant', grantId: 'grant_1' },
};
const sign = async (keys, changes = {}) =>
  (
    await signEntitlementToken(
      { issuer, appName: audience, username: 'alice', entitlements: new Map([['premium', premium]]), now, ...changes },
      keys,
    )
  ).token;

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part) => JSON.parse(Buffer.from(part, 'base64url').toString());
const publish = ({ keys }) => keys.filter((key) => isPublished(key, now)).map(toPublicJwk);

async function buildChecks() {
  const set = createTokenKeys(now);
  const token = await sign(set);
  const [header, payload, signature] = token.split('.');
  const claims = decode(payload);
  const keys = publish(set);
  const [jwk] = keys;
  const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const signWith = async (secret) =>
    await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'entitlements+jwt', kid: jwk.kid })
      .sign(Buffer.from(secret));
  const overlap = rotateTokenKeys(set, { overlapMs: hourMs, now });
  const retired = rotateTokenKeys(set, { overlapMs: 0, now });
  const forged = encode({ ...claims, entitlements: { ...claims.entitlements, offline: { until: null } } });
  const check = (name, isValid, changes = {}) => ({ name, isValid, token, audience, issuer, keys, ...changes });
  return [
    check('a token of the service', true),
    check('a token after the rotation of its key, within the overlap', true, { keys: publish(overlap) }),
    check('a token of the next key', true, { token: await sign(overlap), keys }),
    check('a token after the retirement of its key', false, { keys: publish(retired) }),
    check('changed claims', false, { token: `${header}.${forged}.${signature}` }),
    check('a changed signature', false, { token: `${header}.${payload}.${signature.split('').reverse().join('')}` }),
    check('no signature', false, { token: `${header}.${payload}.` }),
    check('another audience', false, { audience: 'another-app' }),
    check('another issuer', false, { issuer: 'https://attacker.example.com' }),
    check('alg: none', false, {
      token: `${encode({ alg: 'none', typ: 'entitlements+jwt', kid: jwk.kid })}.${payload}.`,
    }),
    check('HS256 with the public key as PEM', false, { token: await signWith(pem) }),
    check('HS256 with the coordinate of the public key', false, { token: await signWith(jwk.x) }),
    check('the key of another set', false, { token: await sign(createTokenKeys(now)) }),
    check('an expired token', false, { token: await sign(set, { now: now - 2 * hourMs }) }),
  ];
}

/** Verifies with jose, which is a dependency of the service. */
const verifyWithJose = async ({ token, audience, issuer, keys }) =>
  await jwtVerify(token, createLocalJWKSet({ keys }), {
    algorithms: ['ES256'],
    typ: 'entitlements+jwt',
    audience,
    issuer,
  }).then(
    () => true,
    () => false,
  );

function compare(checks, results, library) {
  const wrong = checks.filter(({ isValid }, index) => results[index] !== isValid);
  for (const { name, isValid } of wrong) console.error(`${library} ${isValid ? 'rejects' : 'accepts'} ${name}.`);
  if (wrong.length > 0 || results.length !== checks.length) process.exit(1);
  const accepted = checks.filter(({ isValid }) => isValid).length;
  console.log(`${library}: accepts ${accepted} tokens and rejects ${checks.length - accepted}.`);
}

const [, , command, file, library] = process.argv;
if (command === 'write') {
  const checks = await buildChecks();
  writeFileSync(file, JSON.stringify(checks));
  compare(checks, await Promise.all(checks.map(verifyWithJose)), 'jose');
} else {
  compare(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(readFileSync(0, 'utf8')), library);
}
