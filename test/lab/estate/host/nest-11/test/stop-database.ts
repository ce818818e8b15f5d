declare const stopDatabase: () => Promise<void>;

export default () => stopDatabase();
