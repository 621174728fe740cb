import { RemovalPolicy } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';

/**
 * The master keys that encrypt store credentials, secret keys, signing secrets and refresh tokens; one key until the first
 * rotation. Retained, because encrypted values are lost without it.
 */
export class MasterKey extends Construct {
  readonly secret: Secret;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.secret = new Secret(this, 'MasterKey', {
      description: 'Encrypts the credentials in the Claimcheck table',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }
}
