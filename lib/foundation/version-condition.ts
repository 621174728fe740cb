/** Builds the condition of a write that replaces a version of an item. Version 0: there is no item. */
export const buildVersionCondition = (version: number) =>
  version === 0
    ? { ConditionExpression: 'attribute_not_exists(pk)' }
    : { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': version } };
