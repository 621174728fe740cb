import { sign } from 'node:crypto';
import { type EmulatorUser, type Got, start, useEmulator } from './emulator-client.ts';

export const scope = 'https://www.googleapis.com/auth/androidpublisher';
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const applications = '/androidpublisher.googleapis.com/androidpublisher/v3/applications';

/** What makes an assertion wrong. */
interface Changes {
  readonly header?: object;
  readonly claims?: object;
  readonly privateKey?: string;
}

/** Someone who uses the emulated Google Play as a developer's service. */
export interface StoreBUser extends EmulatorUser {
  /** Exchanges an assertion of the service account for an access token. */
  readonly exchange: (changes?: Changes) => Promise<Got>;
  /** Calls the Developer API with an access token. */
  readonly api: (path: string, init?: RequestInit) => Promise<Got>;
  readonly subscription: (token: string) => Promise<Got>;
  readonly product: (token: string) => Promise<Got>;
  readonly order: (id: string) => Promise<Got>;
}

/** Starts an emulator whose clock stands still at `start`. */
export async function useStoreB(options: { readonly stateFile?: string } = {}): Promise<StoreBUser> {
  const user = await useEmulator(options);
  const exchange: StoreBUser['exchange'] = (changes = {}) =>
    user.call('/oauth2.googleapis.com/token', {
      method: 'POST',
      body: new URLSearchParams({ grant_type: grantType, assertion: assertion(user, changes) }).toString(),
    });
  const api: StoreBUser['api'] = async (path, init = {}) => {
    const token = (await exchange()).body.access_token;
    return user.call(`${applications}/com.example.app/${path}`, {
      headers: { authorization: `Bearer ${token}` },
      ...init,
    });
  };
  return {
    ...user,
    exchange,
    api,
    buy: (order = {}) => user.buy({ platform: 'store_b', ...order }),
    fault: (fault) => user.fault({ platform: 'store_b', ...fault }),
    subscription: (token) => api(`purchases/subscriptionsv2/tokens/${token}`),
    product: (token) => api(`purchases/productsv2/tokens/${token}`),
    order: (id) => api(`orders/${id}`),
  };
}

/** The service account as an operator configures it. */
const accountOf = ({ settings }: Pick<EmulatorUser, 'settings'>) =>
  settings('store_b').serviceAccount as Readonly<Record<string, string>>;

function assertion(user: EmulatorUser, { header, claims, privateKey }: Changes): string {
  const { client_email, private_key, private_key_id, token_uri } = accountOf(user);
  const iat = Math.floor(user.clock.now() / 1000);
  const parts = [
    { alg: 'RS256', typ: 'JWT', kid: private_key_id, ...header },
    { iss: client_email, scope, aud: token_uri, iat, exp: iat + 3600, ...claims },
  ];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey ?? private_key ?? '').toString('base64url')}`;
}

export { start };
