// Which category ids a pet may have. The operator chooses the policy with the setting CATEGORIES.

export const CATEGORY_POLICIES = ['any', 'strict'] as const
/** `any` accepts every category id; `strict` accepts only the ids of named categories. */
export type CategoryPolicy = (typeof CATEGORY_POLICIES)[number]
