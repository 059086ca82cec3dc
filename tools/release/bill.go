package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"os"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBill writes the software bill of materials of a binary in CycloneDX's JSON: the
// modules that the linker recorded in it, Go's standard library included.
func (r release) writeBill(p platform) (string, error) {
	built, err := buildinfo.ReadFile(p.binary)
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(p.binary)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	program := cdx.Component{
		BOMRef: "questscheduler", Type: cdx.ComponentTypeApplication, Name: "questscheduler", Version: r.version,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		Hashes:   &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Properties: &[]cdx.Property{
			{Name: "os", Value: p.os}, {Name: "architecture", Value: p.arch},
		},
	}
	parts := []cdx.Component{module("std", built.GoVersion)}
	for _, dependency := range built.Deps {
		if dependency.Replace != nil {
			dependency = dependency.Replace
		}
		parts = append(parts, module(dependency.Path, dependency.Version))
	}
	refs := make([]string, 0, len(parts))
	for _, part := range parts {
		refs = append(refs, part.BOMRef)
	}
	bill := cdx.NewBOM()
	bill.Metadata = &cdx.Metadata{Timestamp: r.made.Format(time.RFC3339), Component: &program}
	bill.Components = &parts
	bill.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}

	path := r.name(p.String() + ".cdx.json")
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	err = cdx.NewBOMEncoder(file, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
	if closing := file.Close(); err == nil {
		err = closing
	}
	return path, err
}

// module is a Go module, named by its package URL, by which scanners find its
// vulnerabilities.
func module(path, version string) cdx.Component {
	address := "pkg:golang/" + path + "@" + version
	return cdx.Component{
		BOMRef: address, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: address,
	}
}
