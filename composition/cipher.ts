import { createCipher } from '../lib/shared/cipher.ts';
import type { AwsClientOptions } from '../lib/shared/connections.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { once } from '../lib/shared/once.ts';
import { clientOptions, now, requireVariable } from './environment.ts';

/** Encrypts stored secrets with the master key. */
export const cipher = once(() =>
  createCipher(() => fetchMasterSecret(requireVariable('MASTER_KEY_ID'), clientOptions()), now),
);

/** Loads the Secrets Manager client when a secret is needed, which most requests do not. */
async function fetchMasterSecret(id: string, clientOptions: AwsClientOptions): Promise<string> {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { SecretString } = await new SecretsManagerClient(clientOptions).send(
    new GetSecretValueCommand({ SecretId: id }),
  );
  if (!SecretString) throw new ServiceError('InternalError', 'The master key is missing.');
  return SecretString;
}
