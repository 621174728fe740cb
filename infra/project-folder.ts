import { fileURLToPath } from 'node:url';

/** Folder of the project, with a trailing slash. */
export const projectFolder = fileURLToPath(new URL('..', import.meta.url));
