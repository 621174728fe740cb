/** Ignores an error of the control API with one of the statuses: the purchase does not allow the action. */
export const ignoreRejection =
  (...statuses: readonly number[]) =>
  (error: unknown): undefined => {
    if (!statuses.some((status) => String((error as Error).message).startsWith(`${status} `))) throw error;
  };
