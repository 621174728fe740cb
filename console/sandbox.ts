/** Whether the console shows the purchases of the stores' sandboxes in place of the others. */
export const showsSandbox = ({ sandbox }: Readonly<Record<string, string | undefined>>): boolean => sandbox === 'true';

/** Builds the parameter of statistics. They leave out the sandbox by default. */
export const toSandboxQuery = (isSandbox: boolean): { readonly sandbox?: 'true' } =>
  isSandbox ? { sandbox: 'true' } : {};
