/** Returns whether the console shows the purchases of the stores' sandboxes instead of the others. */
export const showsSandbox = ({ sandbox }: Readonly<Record<string, string | undefined>>): boolean => sandbox === 'true';

/** Returns the filter of lists, which show the purchases of the sandbox or the others. */
export const toSandboxFilter = (query: Parameters<typeof showsSandbox>[0]): 'true' | 'false' =>
  showsSandbox(query) ? 'true' : 'false';

/** Builds the parameter of statistics. They leave out the sandbox by default. */
export const toSandboxQuery = (isSandbox: boolean): { readonly sandbox?: 'true' } =>
  isSandbox ? { sandbox: 'true' } : {};
