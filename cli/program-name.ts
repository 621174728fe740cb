const callers: Readonly<Record<string, string>> = { cli: 'npm run -s cli --', npx: 'npx claimcheck' };

/** The program as it was called, so that a printed command can be pasted: only `npm link` puts it on the path. */
export const programName = callers[process.env.npm_lifecycle_event ?? ''] ?? 'claimcheck';
