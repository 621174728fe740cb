import { RemovalPolicy } from 'aws-cdk-lib';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledgeFinding } from './acknowledgements.ts';

interface MasterKeyProps {
  /** Complete ARN of an existing secret, which the stack adopts instead of creating one. */
  readonly masterKeyArn?: string | undefined;
  /** Region of a replica of the created secret. */
  readonly masterKeyReplicaRegion?: string | undefined;
}

/**
 * The master keys that encrypt store credentials, secret keys, signing secrets and refresh tokens; one key until the
 * first rotation. Retained, because encrypted values are lost without it.
 */
export class MasterKey extends Construct {
  readonly secret: ISecret;

  constructor(scope: Construct, id: string, { masterKeyArn, masterKeyReplicaRegion }: MasterKeyProps = {}) {
    super(scope, id);
    this.secret =
      masterKeyArn === undefined
        ? this.createSecret(masterKeyReplicaRegion)
        : Secret.fromSecretCompleteArn(this, 'MasterKey', masterKeyArn);
  }

  private createSecret(replicaRegion: string | undefined): ISecret {
    const secret = new Secret(this, 'MasterKey', {
      description: 'Encrypts the credentials in the Claimcheck table',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      ...(replicaRegion !== undefined && { replicaRegions: [{ region: replicaRegion }] }),
    });
    acknowledgeFinding(
      secret,
      'SMG4',
      'The operator rotates it by hand: earlier keys must decrypt until all values are encrypted again. See docs/operating/rotate-secrets.md.',
    );
    return secret as ISecret;
  }
}
