package mappings

// Sentence is what a person reads of a failed load.
var Sentence = loadSentence
