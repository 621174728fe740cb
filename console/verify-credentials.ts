import { callApi } from './api/client.ts';
import { endpoints } from './api/endpoints.ts';
import type { Credentials, Session } from './session-storage.ts';

/** Reads the app with the credentials. Throws if they are wrong, or if the key cannot read. */
export async function verifyCredentials({ appName, key }: Credentials): Promise<Session> {
  const credentials = { appName: appName.trim(), key: key.trim() };
  const app = await callApi(endpoints.getApp, {}, { credentials });
  const { name: keyName, level } = app.key;
  return { ...credentials, keyName, level: level === 'viewer' || level === 'support' ? level : 'secret' };
}
