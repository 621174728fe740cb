import { sign } from 'node:crypto';
import { type EmulatorClient, startEmulatorClient, startTime, type TestResponse } from './emulator-client.ts';

export const apiScope = 'https://www.googleapis.com/auth/androidpublisher';
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const applications = '/androidpublisher.googleapis.com/androidpublisher/v3/applications';

/** Changes that make an assertion invalid. */
interface Changes {
  readonly header?: object;
  readonly claims?: object;
  readonly privateKey?: string;
}

/** Client of the emulated Google Play in the role of a developer's service. */
export interface GooglePlayClient extends EmulatorClient {
  /** Exchanges an assertion of the service account for an access token. */
  readonly exchange: (changes?: Changes) => Promise<TestResponse>;
  /** Calls the Developer API with an access token. */
  readonly api: (path: string, init?: RequestInit) => Promise<TestResponse>;
  readonly subscription: (token: string) => Promise<TestResponse>;
  readonly product: (token: string) => Promise<TestResponse>;
  readonly order: (id: string) => Promise<TestResponse>;
}

/** Starts an emulator with a fixed clock at `startTime`. */
export async function startGooglePlayClient(options: { readonly stateFile?: string } = {}): Promise<GooglePlayClient> {
  const client = await startEmulatorClient(options);
  const exchange: GooglePlayClient['exchange'] = (changes = {}) =>
    client.call('/oauth2.googleapis.com/token', {
      method: 'POST',
      body: new URLSearchParams({ grant_type: grantType, assertion: signAssertion(client, changes) }).toString(),
    });
  const api: GooglePlayClient['api'] = async (path, init = {}) => {
    const token = (await exchange()).body.access_token;
    return client.call(`${applications}/com.example.app/${path}`, {
      headers: { authorization: `Bearer ${token}` },
      ...init,
    });
  };
  return {
    ...client,
    exchange,
    api,
    buy: (order = {}) => client.buy({ platform: 'store_b', acknowledged: true, ...order }),
    addFault: (fault) => client.addFault({ platform: 'store_b', ...fault }),
    subscription: (token) => api(`purchases/subscriptionsv2/tokens/${token}`),
    product: (token) => api(`purchases/productsv2/tokens/${token}`),
    order: (id) => api(`orders/${id}`),
  };
}

/** Returns the service account of the settings. */
const getServiceAccount = ({ settings }: Pick<EmulatorClient, 'settings'>) =>
  settings('store_b').serviceAccount as Readonly<Record<string, string>>;

function signAssertion(client: EmulatorClient, { header, claims, privateKey }: Changes): string {
  const { client_email, private_key, private_key_id, token_uri } = getServiceAccount(client);
  const iat = Math.floor(client.clock.now() / 1000);
  const parts = [
    { alg: 'RS256', typ: 'JWT', kid: private_key_id, ...header },
    { iss: client_email, scope: apiScope, aud: token_uri, iat, exp: iat + 3600, ...claims },
  ];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey ?? private_key ?? '').toString('base64url')}`;
}

export { startTime };
