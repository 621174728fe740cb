/** Maximum number of parts of a counter: one transaction replaces the parts of a day and of its month. */
export const maxCounterParts = 40;
