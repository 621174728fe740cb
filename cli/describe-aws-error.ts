/**
 * Returns what an operator must correct so that AWS accepts the requests of a command. Undefined for another error.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
export function describeCredentialError(error: unknown): string | undefined {
  const { name, message } = error instanceof Error ? error : { name: '', message: '' };
  // The second message is of an empty region.
  if (/^Region is missing|^Region not accepted: region=""/.test(message))
    return 'The AWS region is missing. Pass --region, or set AWS_REGION.';
  if (name === 'CredentialsProviderError') return describeMissingCredentials(process.env.AWS_PROFILE);
  if (/ExpiredToken|InvalidClientTokenId|SignatureDoesNotMatch|InvalidSignature|UnrecognizedClient/.test(name))
    return 'AWS rejects the credentials: they are expired or invalid. Sign in again.';
  return undefined;
}

const describeMissingCredentials = (profile: string | undefined): string =>
  profile
    ? `AWS credentials are missing in the profile ${profile}. Check --profile, or sign in to AWS.`
    : 'AWS credentials are missing. Pass --profile, or sign in to AWS.';

/** Returns what an operator must correct so that the table can be used. Undefined for another error. */
export function describeTableError(cause: unknown, table = ''): string | undefined {
  const name = cause instanceof Error ? cause.name : '';
  if (name === 'ResourceNotFoundException') return `The table ${table} is not found. Check --table and --region.`;
  if (name === 'AccessDeniedException')
    return `The credentials may not use the table ${table}. Attach the policy of the stack output OperatorPolicyArn.`;
  return describeCredentialError(cause);
}
