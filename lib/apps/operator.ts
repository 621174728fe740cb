import * as v from 'valibot';
import type { Apps } from '../db/apps.ts';
import { ServiceError } from '../errors.ts';
import { parse } from '../parse.ts';
import type { Strategy } from '../purchases/claims.ts';
import type { Millis } from '../purchases/purchase.ts';
import { type App, AppName } from './app.ts';
import { digestOf, newKey } from './keys.ts';

/** The keys of an application in clear, shown once. */
export interface IssuedKeys {
  readonly app: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

/** Creates an application with new keys. Throws `InvalidPayload` for a bad name and `Conflict` for one that exists. */
export async function createApp(apps: Apps, name: string, now: Millis): Promise<IssuedKeys> {
  const { name: app } = parse(v.object({ name: AppName }), { name });
  if (await apps.find(app)) throw new ServiceError('Conflict', `An application named ${app} exists already.`);
  const publicKey = newKey('public');
  const secretKey = newKey('secret');
  await apps.create(
    {
      name: app,
      publicKeys: [{ digest: digestOf(publicKey) }],
      secretKeys: [{ digest: digestOf(secretKey) }],
      strategy: 'all',
      vocabulary: 'neutral',
      createdAt: now,
    },
    secretKey,
  );
  return { app, publicKey, secretKey };
}

/** Issues a new key of one level; the present one stays live for `overlapMs`, an older one ends now. */
export async function rotateKey(
  apps: Apps,
  name: string,
  { level, overlapMs, now }: { level: 'public' | 'secret'; overlapMs: Millis; now: Millis },
): Promise<string> {
  const app = await existing(apps, name);
  const key = newKey(level);
  const field = level === 'public' ? 'publicKeys' : 'secretKeys';
  const present = app[field].filter(({ endsAt }) => endsAt === undefined);
  const ending = present.map(({ digest }) => ({ digest, endsAt: now + overlapMs }));
  await apps.replace({ ...app, [field]: [{ digest: digestOf(key) }, ...ending] }, level === 'secret' ? key : undefined);
  return key;
}

/** Sets who owns a purchase that several users claim; purchases follow at their next validation or notification. */
export async function setStrategy(apps: Apps, name: string, strategy: Strategy): Promise<App> {
  const app = { ...(await existing(apps, name)), strategy };
  await apps.replace(app);
  return app;
}

/** Sets the words of answers to the secret key and of webhooks: those of the specification, or the stores' brand words. */
export async function setVocabulary(apps: Apps, name: string, vocabulary: App['vocabulary']): Promise<void> {
  await apps.replace({ ...(await existing(apps, name)), vocabulary });
}

/** The application of that name; throws `AppNotFound`. */
export async function existing(apps: Apps, name: string): Promise<App> {
  const app = await apps.find(name);
  if (!app) throw new ServiceError('AppNotFound', `There is no application named ${name}.`);
  return app;
}
