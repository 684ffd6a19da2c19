; 725f412de10363d2bb729d25a12e4de0ac2571ebd40a756fff4aafd861dfb08e is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'onnxruntime.c'
source_filename = "onnxruntime.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.ort_op = type { i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, [4 x ptr], ptr, ptr, ptr, [2 x ptr] }
%struct.text = type { i64, [512 x i8] }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.ort_api_base = type { ptr, ptr }
%struct.ort_api = type { ptr, [25 x ptr], ptr, ptr, ptr, [22 x ptr], ptr, [9 x ptr], ptr, ptr, [2 x ptr], ptr, [9 x ptr], ptr, ptr, ptr, ptr, [7 x ptr], ptr, ptr, [2 x ptr], ptr, ptr, ptr, ptr, [5 x ptr], ptr, ptr, ptr, [172 x ptr], ptr }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.kernel = type { ptr, ptr, i32, [8 x ptr] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.run = type { ptr, ptr, %struct.model_description, ptr, ptr, ptr, ptr, ptr }
%struct.block = type { ptr, i64 }
%struct.model_buffer = type { ptr, i64 }
%struct.job = type { ptr, ptr }

@.str = private unnamed_addr constant [58 x i8] c"the library needs onnxruntime 1.17 or newer, and this is \00", align 1
@owner = internal unnamed_addr global ptr null, align 8
@kept_domain = internal global ptr null, align 8
@model_op = internal constant %struct.ort_op { i32 17, ptr null, ptr @get_name, ptr @get_provider, ptr @get_input_type, ptr @count_inputs, ptr @get_output_type, ptr @count_outputs, ptr null, ptr @destroy_kernel, ptr @get_zero, ptr @get_zero, ptr @get_zero, [4 x ptr] zeroinitializer, ptr @create_kernel, ptr @compute, ptr null, [2 x ptr] zeroinitializer }, align 8
@type_number.names = internal unnamed_addr constant [14 x [8 x i8]] [[8 x i8] zeroinitializer, [8 x i8] c"float32\00", [8 x i8] c"uint8\00\00\00", [8 x i8] c"int8\00\00\00\00", [8 x i8] c"uint16\00\00", [8 x i8] c"int16\00\00\00", [8 x i8] c"int32\00\00\00", [8 x i8] c"int64\00\00\00", [8 x i8] zeroinitializer, [8 x i8] c"bool\00\00\00\00", [8 x i8] c"float16\00", [8 x i8] c"float64\00", [8 x i8] c"uint32\00\00", [8 x i8] c"uint64\00\00"], align 16
@.str.3 = private unnamed_addr constant [39 x i8] c"onnxruntime has no memory for a kernel\00", align 1
@.str.4 = private unnamed_addr constant [11 x i8] c"model_hash\00", align 1
@.str.5 = private unnamed_addr constant [123 x i8] c"the ONNX file and the library are of different exports, or the node has no attribute model_hash; take both from one folder\00", align 1
@.str.6 = private unnamed_addr constant [6 x i8] c"tasks\00", align 1
@.str.8 = private unnamed_addr constant [11 x i8] c"no integer\00", align 1
@.str.9 = private unnamed_addr constant [12 x i8] c"the number \00", align 1
@.str.10 = private unnamed_addr constant [44 x i8] c" as attribute tasks; give it one from 1 to \00", align 1
@.str.11 = private unnamed_addr constant [36 x i8] c"onnxruntime has no memory for a run\00", align 1
@.str.14 = private unnamed_addr constant [22 x i8] c" and the model takes \00", align 1
@.str.17 = private unnamed_addr constant [7 x i8] c", ...]\00", align 1
@.str.18 = private unnamed_addr constant [2 x i8] c"]\00", align 1

; Function Attrs: nounwind
define ptr @RegisterCustomOps(ptr noundef %0, ptr nocapture noundef readonly %1) local_unnamed_addr #0 {
  %3 = alloca %struct.text, align 8
  %4 = alloca %struct.model_description, align 8
  %5 = alloca %struct.model_description, align 8
  %6 = alloca ptr, align 8
  %7 = alloca %struct.text, align 8
  %8 = getelementptr inbounds %struct.ort_api_base, ptr %1, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  %10 = tail call ptr %9() #8
  %11 = load i8, ptr %10, align 1
  %12 = add i8 %11, -48
  %13 = icmp ult i8 %12, 10
  br i1 %13, label %14, label %26

14:                                               ; preds = %2, %14
  %15 = phi i32 [ %22, %14 ], [ 0, %2 ]
  %16 = phi i8 [ %23, %14 ], [ %11, %2 ]
  %17 = phi ptr [ %20, %14 ], [ %10, %2 ]
  %18 = zext i8 %16 to i32
  %19 = mul i32 %15, 10
  %20 = getelementptr inbounds i8, ptr %17, i64 1
  %21 = add i32 %19, -48
  %22 = add i32 %21, %18
  %23 = load i8, ptr %20, align 1
  %24 = add i8 %23, -48
  %25 = icmp ult i8 %24, 10
  br i1 %25, label %14, label %26, !llvm.loop !2

26:                                               ; preds = %14, %2
  %27 = phi i32 [ 0, %2 ], [ %22, %14 ]
  %28 = phi ptr [ %10, %2 ], [ %20, %14 ]
  %29 = phi i8 [ %11, %2 ], [ %23, %14 ]
  %30 = icmp ne i8 %29, 0
  %31 = zext i1 %30 to i64
  %32 = getelementptr i8, ptr %28, i64 %31
  %33 = load i8, ptr %32, align 1
  %34 = add i8 %33, -48
  %35 = icmp ult i8 %34, 10
  br i1 %35, label %36, label %48

36:                                               ; preds = %26, %36
  %37 = phi i32 [ %44, %36 ], [ 0, %26 ]
  %38 = phi i8 [ %45, %36 ], [ %33, %26 ]
  %39 = phi ptr [ %42, %36 ], [ %32, %26 ]
  %40 = zext i8 %38 to i32
  %41 = mul i32 %37, 10
  %42 = getelementptr inbounds i8, ptr %39, i64 1
  %43 = add i32 %41, -48
  %44 = add i32 %43, %40
  %45 = load i8, ptr %42, align 1
  %46 = add i8 %45, -48
  %47 = icmp ult i8 %46, 10
  br i1 %47, label %36, label %48, !llvm.loop !2

48:                                               ; preds = %36, %26
  %49 = phi i32 [ 0, %26 ], [ %44, %36 ]
  %50 = icmp ugt i32 %27, 1
  %51 = icmp eq i32 %27, 1
  %52 = icmp ugt i32 %49, 16
  %53 = select i1 %51, i1 %52, i1 false
  %54 = select i1 %50, i1 true, i1 %53
  br i1 %54, label %56, label %55

55:                                               ; preds = %48
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  br label %60

56:                                               ; preds = %48
  %57 = load ptr, ptr %1, align 8
  %58 = tail call ptr %57(i32 noundef 17) #8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #9
  store ptr null, ptr %6, align 8
  %59 = icmp eq ptr %58, null
  br i1 %59, label %60, label %152

60:                                               ; preds = %55, %56
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %7) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %5)
  store i64 0, ptr %7, align 8
  %61 = call i32 @model_describe(ptr noundef nonnull %5) #8
  %62 = load ptr, ptr %5, align 8
  %63 = load i8, ptr %62, align 1
  %64 = icmp eq i8 %63, 0
  br i1 %64, label %78, label %65

65:                                               ; preds = %60, %70
  %66 = phi i8 [ %74, %70 ], [ %63, %60 ]
  %67 = phi ptr [ %71, %70 ], [ %62, %60 ]
  %68 = load i64, ptr %7, align 8
  %69 = icmp ult i64 %68, 511
  br i1 %69, label %70, label %78

70:                                               ; preds = %65
  %71 = getelementptr inbounds i8, ptr %67, i64 1
  %72 = add nuw nsw i64 %68, 1
  store i64 %72, ptr %7, align 8
  %73 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %68
  store i8 %66, ptr %73, align 1
  %74 = load i8, ptr %71, align 1
  %75 = icmp eq i8 %74, 0
  br i1 %75, label %76, label %65, !llvm.loop !4

76:                                               ; preds = %70
  %77 = load i64, ptr %7, align 8
  br label %78

78:                                               ; preds = %65, %76, %60
  %79 = phi i64 [ 0, %60 ], [ %77, %76 ], [ %68, %65 ]
  %80 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %79
  store i8 0, ptr %80, align 1
  %81 = load i64, ptr %7, align 8
  %82 = icmp ult i64 %81, 511
  br i1 %82, label %83, label %92

83:                                               ; preds = %78
  %84 = add nuw nsw i64 %81, 1
  store i64 %84, ptr %7, align 8
  %85 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %81
  store i8 58, ptr %85, align 1
  %86 = load i64, ptr %7, align 8
  %87 = icmp ult i64 %86, 511
  br i1 %87, label %88, label %92

88:                                               ; preds = %83
  %89 = add nuw nsw i64 %86, 1
  store i64 %89, ptr %7, align 8
  %90 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %86
  store i8 32, ptr %90, align 1
  %91 = load i64, ptr %7, align 8
  br label %92

92:                                               ; preds = %78, %83, %88
  %93 = phi i64 [ %91, %88 ], [ %86, %83 ], [ %81, %78 ]
  %94 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %93
  store i8 0, ptr %94, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %5)
  br label %95

95:                                               ; preds = %112, %92
  %96 = phi i8 [ 116, %92 ], [ %118, %112 ]
  %97 = phi ptr [ @.str, %92 ], [ %115, %112 ]
  %98 = load i64, ptr %7, align 8
  %99 = icmp ult i64 %98, 511
  br i1 %99, label %100, label %122

100:                                              ; preds = %95
  %101 = add nuw nsw i64 %98, 1
  store i64 %101, ptr %7, align 8
  %102 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %98
  store i8 %96, ptr %102, align 1
  %103 = load i64, ptr %7, align 8
  %104 = icmp ult i64 %103, 511
  br i1 %104, label %105, label %122

105:                                              ; preds = %100
  %106 = getelementptr inbounds i8, ptr %97, i64 1
  %107 = load i8, ptr %106, align 1
  %108 = add nuw nsw i64 %103, 1
  store i64 %108, ptr %7, align 8
  %109 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %103
  store i8 %107, ptr %109, align 1
  %110 = load i64, ptr %7, align 8
  %111 = icmp ult i64 %110, 511
  br i1 %111, label %112, label %122

112:                                              ; preds = %105
  %113 = getelementptr inbounds i8, ptr %97, i64 2
  %114 = load i8, ptr %113, align 1
  %115 = getelementptr inbounds i8, ptr %97, i64 3
  %116 = add nuw nsw i64 %110, 1
  store i64 %116, ptr %7, align 8
  %117 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %110
  store i8 %114, ptr %117, align 1
  %118 = load i8, ptr %115, align 1
  %119 = icmp eq ptr %115, getelementptr inbounds ([58 x i8], ptr @.str, i64 0, i64 57)
  br i1 %119, label %120, label %95, !llvm.loop !4

120:                                              ; preds = %112
  %121 = load i64, ptr %7, align 8
  br label %122

122:                                              ; preds = %95, %100, %105, %120
  %123 = phi i64 [ %121, %120 ], [ %98, %95 ], [ %103, %100 ], [ %110, %105 ]
  %124 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %123
  store i8 0, ptr %124, align 1
  %125 = load ptr, ptr %8, align 8
  %126 = call ptr %125() #8
  %127 = load i8, ptr %126, align 1
  %128 = icmp eq i8 %127, 0
  br i1 %128, label %140, label %129

129:                                              ; preds = %122, %134
  %130 = phi i8 [ %138, %134 ], [ %127, %122 ]
  %131 = phi ptr [ %135, %134 ], [ %126, %122 ]
  %132 = load i64, ptr %7, align 8
  %133 = icmp ult i64 %132, 511
  br i1 %133, label %134, label %140

134:                                              ; preds = %129
  %135 = getelementptr inbounds i8, ptr %131, i64 1
  %136 = add nuw nsw i64 %132, 1
  store i64 %136, ptr %7, align 8
  %137 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %132
  store i8 %130, ptr %137, align 1
  %138 = load i8, ptr %135, align 1
  %139 = icmp eq i8 %138, 0
  br i1 %139, label %140, label %129, !llvm.loop !4

140:                                              ; preds = %129, %134, %122
  %141 = load i64, ptr %7, align 8
  %142 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1, i64 %141
  store i8 0, ptr %142, align 1
  %143 = load ptr, ptr %1, align 8
  %144 = call ptr %143(i32 noundef 1) #8
  %145 = icmp eq ptr %144, null
  br i1 %145, label %150, label %146

146:                                              ; preds = %140
  %147 = load ptr, ptr %144, align 8
  %148 = getelementptr inbounds %struct.text, ptr %7, i64 0, i32 1
  %149 = call ptr %147(i32 noundef 9, ptr noundef nonnull %148) #8
  br label %150

150:                                              ; preds = %140, %146
  %151 = phi ptr [ %149, %146 ], [ null, %140 ]
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %7) #9
  br label %206

152:                                              ; preds = %56
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %4)
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %3) #9
  %153 = load atomic i64, ptr @owner acquire, align 8
  %154 = inttoptr i64 %153 to ptr
  %155 = icmp eq ptr %58, %154
  br i1 %155, label %156, label %158

156:                                              ; preds = %152
  %157 = load ptr, ptr @kept_domain, align 8
  store ptr %157, ptr %6, align 8
  br label %201

158:                                              ; preds = %152
  %159 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 0
  store <4 x i8> <i8 116, i8 118, i8 109, i8 113>, ptr %159, align 8
  %160 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 4
  store i8 46, ptr %160, align 4
  store i64 5, ptr %3, align 8
  %161 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 5
  store i8 0, ptr %161, align 1
  %162 = call i32 @model_describe(ptr noundef nonnull %4) #8
  %163 = load ptr, ptr %4, align 8
  %164 = load i8, ptr %163, align 1
  %165 = icmp eq i8 %164, 0
  br i1 %165, label %179, label %166

166:                                              ; preds = %158, %171
  %167 = phi i8 [ %175, %171 ], [ %164, %158 ]
  %168 = phi ptr [ %172, %171 ], [ %163, %158 ]
  %169 = load i64, ptr %3, align 8
  %170 = icmp ult i64 %169, 511
  br i1 %170, label %171, label %179

171:                                              ; preds = %166
  %172 = getelementptr inbounds i8, ptr %168, i64 1
  %173 = add nuw nsw i64 %169, 1
  store i64 %173, ptr %3, align 8
  %174 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 %169
  store i8 %167, ptr %174, align 1
  %175 = load i8, ptr %172, align 1
  %176 = icmp eq i8 %175, 0
  br i1 %176, label %177, label %166, !llvm.loop !4

177:                                              ; preds = %171
  %178 = load i64, ptr %3, align 8
  br label %179

179:                                              ; preds = %166, %177, %158
  %180 = phi i64 [ 5, %158 ], [ %178, %177 ], [ %169, %166 ]
  %181 = getelementptr inbounds %struct.text, ptr %3, i64 0, i32 1, i64 %180
  store i8 0, ptr %181, align 1
  %182 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 2
  %183 = load ptr, ptr %182, align 8
  %184 = call ptr %183(ptr noundef nonnull %159, ptr noundef nonnull %6) #8
  %185 = icmp eq ptr %184, null
  br i1 %185, label %186, label %199

186:                                              ; preds = %179
  %187 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 3
  %188 = load ptr, ptr %187, align 8
  %189 = load ptr, ptr %6, align 8
  %190 = call ptr %188(ptr noundef %189, ptr noundef nonnull @model_op) #8
  %191 = icmp eq ptr %190, null
  br i1 %191, label %192, label %199

192:                                              ; preds = %186
  %193 = load ptr, ptr %6, align 8
  %194 = ptrtoint ptr %193 to i64
  %195 = cmpxchg ptr @kept_domain, i64 0, i64 %194 acq_rel monotonic, align 8
  %196 = extractvalue { i64, i1 } %195, 1
  br i1 %196, label %197, label %201

197:                                              ; preds = %192
  %198 = ptrtoint ptr %58 to i64
  store atomic i64 %198, ptr @owner release, align 8
  br label %201

199:                                              ; preds = %179, %186
  %200 = phi ptr [ %190, %186 ], [ %184, %179 ]
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %3) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  br label %206

201:                                              ; preds = %156, %197, %192
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %3) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  %202 = getelementptr inbounds %struct.ort_api, ptr %58, i64 0, i32 4
  %203 = load ptr, ptr %202, align 8
  %204 = load ptr, ptr %6, align 8
  %205 = call ptr %203(ptr noundef %0, ptr noundef %204) #8
  br label %206

206:                                              ; preds = %199, %201, %150
  %207 = phi ptr [ %151, %150 ], [ %205, %201 ], [ %200, %199 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #9
  ret ptr %207
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #2

declare i32 @model_describe(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal ptr @get_name(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = load ptr, ptr %2, align 8
  ret ptr %4
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal noalias ptr @get_provider(ptr nocapture readnone %0) #4 {
  ret ptr null
}

; Function Attrs: nounwind
define internal i32 @get_input_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_input(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 8
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !5

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !6

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_inputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 6
  %5 = load i32, ptr %4, align 4
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal i32 @get_output_type(ptr nocapture readnone %0, i64 noundef %1) #0 {
  %3 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %3) #9
  %4 = trunc i64 %1 to i32
  %5 = call i32 @model_output(i32 noundef %4, ptr noundef null, ptr noundef nonnull %3) #8
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %36

7:                                                ; preds = %2
  %8 = getelementptr inbounds %struct.model_tensor, ptr %3, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  br label %10

10:                                               ; preds = %31, %7
  %11 = phi i64 [ 13, %7 ], [ %32, %31 ]
  %12 = getelementptr inbounds [14 x [8 x i8]], ptr @type_number.names, i64 0, i64 %11
  %13 = load i8, ptr %12, align 8
  %14 = icmp eq i8 %13, 0
  br i1 %14, label %26, label %15

15:                                               ; preds = %10, %21
  %16 = phi i8 [ %24, %21 ], [ %13, %10 ]
  %17 = phi ptr [ %23, %21 ], [ %9, %10 ]
  %18 = phi ptr [ %22, %21 ], [ %12, %10 ]
  %19 = load i8, ptr %17, align 1
  %20 = icmp eq i8 %16, %19
  br i1 %20, label %21, label %26

21:                                               ; preds = %15
  %22 = getelementptr inbounds i8, ptr %18, i64 1
  %23 = getelementptr inbounds i8, ptr %17, i64 1
  %24 = load i8, ptr %22, align 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %26, label %15, !llvm.loop !5

26:                                               ; preds = %21, %15, %10
  %27 = phi ptr [ %9, %10 ], [ %23, %21 ], [ %17, %15 ]
  %28 = phi i8 [ 0, %10 ], [ 0, %21 ], [ %16, %15 ]
  %29 = load i8, ptr %27, align 1
  %30 = icmp eq i8 %28, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %26
  %32 = add nsw i64 %11, -1
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %36, label %10, !llvm.loop !6

34:                                               ; preds = %26
  %35 = trunc i64 %11 to i32
  br label %36

36:                                               ; preds = %31, %34, %2
  %37 = phi i32 [ 0, %2 ], [ %35, %34 ], [ 0, %31 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %3) #9
  ret i32 %37
}

; Function Attrs: nounwind
define internal i64 @count_outputs(ptr nocapture readnone %0) #0 {
  %2 = alloca %struct.model_description, align 8
  %3 = call i32 @model_describe(ptr noundef nonnull %2) #8
  %4 = getelementptr inbounds %struct.model_description, ptr %2, i64 0, i32 7
  %5 = load i32, ptr %4, align 8
  %6 = zext i32 %5 to i64
  ret i64 %6
}

; Function Attrs: nounwind
define internal void @destroy_kernel(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  %3 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 0
  %4 = load ptr, ptr %3, align 8
  %5 = icmp eq ptr %4, null
  br i1 %5, label %29, label %18

6:                                                ; preds = %119, %123, %130
  %7 = load ptr, ptr %0, align 8
  %8 = getelementptr inbounds %struct.ort_api, ptr %7, i64 0, i32 14
  %9 = load ptr, ptr %8, align 8
  %10 = load ptr, ptr %2, align 8
  %11 = tail call ptr %9(ptr noundef %10, ptr noundef nonnull %0) #8
  %12 = icmp eq ptr %11, null
  br i1 %12, label %17, label %13

13:                                               ; preds = %6
  %14 = load ptr, ptr %0, align 8
  %15 = getelementptr inbounds %struct.ort_api, ptr %14, i64 0, i32 24
  %16 = load ptr, ptr %15, align 8
  tail call void %16(ptr noundef nonnull %11) #8
  br label %17

17:                                               ; preds = %6, %13
  ret void

18:                                               ; preds = %1
  %19 = load ptr, ptr %0, align 8
  %20 = getelementptr inbounds %struct.ort_api, ptr %19, i64 0, i32 14
  %21 = load ptr, ptr %20, align 8
  %22 = load ptr, ptr %2, align 8
  %23 = tail call ptr %21(ptr noundef %22, ptr noundef nonnull %4) #8
  %24 = icmp eq ptr %23, null
  br i1 %24, label %29, label %25

25:                                               ; preds = %18
  %26 = load ptr, ptr %0, align 8
  %27 = getelementptr inbounds %struct.ort_api, ptr %26, i64 0, i32 24
  %28 = load ptr, ptr %27, align 8
  tail call void %28(ptr noundef nonnull %23) #8
  br label %29

29:                                               ; preds = %1, %18, %25
  %30 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %31 = load ptr, ptr %30, align 8
  %32 = icmp eq ptr %31, null
  br i1 %32, label %44, label %33

33:                                               ; preds = %29
  %34 = load ptr, ptr %0, align 8
  %35 = getelementptr inbounds %struct.ort_api, ptr %34, i64 0, i32 14
  %36 = load ptr, ptr %35, align 8
  %37 = load ptr, ptr %2, align 8
  %38 = tail call ptr %36(ptr noundef %37, ptr noundef nonnull %31) #8
  %39 = icmp eq ptr %38, null
  br i1 %39, label %44, label %40

40:                                               ; preds = %33
  %41 = load ptr, ptr %0, align 8
  %42 = getelementptr inbounds %struct.ort_api, ptr %41, i64 0, i32 24
  %43 = load ptr, ptr %42, align 8
  tail call void %43(ptr noundef nonnull %38) #8
  br label %44

44:                                               ; preds = %40, %33, %29
  %45 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %46 = load ptr, ptr %45, align 8
  %47 = icmp eq ptr %46, null
  br i1 %47, label %59, label %48

48:                                               ; preds = %44
  %49 = load ptr, ptr %0, align 8
  %50 = getelementptr inbounds %struct.ort_api, ptr %49, i64 0, i32 14
  %51 = load ptr, ptr %50, align 8
  %52 = load ptr, ptr %2, align 8
  %53 = tail call ptr %51(ptr noundef %52, ptr noundef nonnull %46) #8
  %54 = icmp eq ptr %53, null
  br i1 %54, label %59, label %55

55:                                               ; preds = %48
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.ort_api, ptr %56, i64 0, i32 24
  %58 = load ptr, ptr %57, align 8
  tail call void %58(ptr noundef nonnull %53) #8
  br label %59

59:                                               ; preds = %55, %48, %44
  %60 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %61 = load ptr, ptr %60, align 8
  %62 = icmp eq ptr %61, null
  br i1 %62, label %74, label %63

63:                                               ; preds = %59
  %64 = load ptr, ptr %0, align 8
  %65 = getelementptr inbounds %struct.ort_api, ptr %64, i64 0, i32 14
  %66 = load ptr, ptr %65, align 8
  %67 = load ptr, ptr %2, align 8
  %68 = tail call ptr %66(ptr noundef %67, ptr noundef nonnull %61) #8
  %69 = icmp eq ptr %68, null
  br i1 %69, label %74, label %70

70:                                               ; preds = %63
  %71 = load ptr, ptr %0, align 8
  %72 = getelementptr inbounds %struct.ort_api, ptr %71, i64 0, i32 24
  %73 = load ptr, ptr %72, align 8
  tail call void %73(ptr noundef nonnull %68) #8
  br label %74

74:                                               ; preds = %70, %63, %59
  %75 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %76 = load ptr, ptr %75, align 8
  %77 = icmp eq ptr %76, null
  br i1 %77, label %89, label %78

78:                                               ; preds = %74
  %79 = load ptr, ptr %0, align 8
  %80 = getelementptr inbounds %struct.ort_api, ptr %79, i64 0, i32 14
  %81 = load ptr, ptr %80, align 8
  %82 = load ptr, ptr %2, align 8
  %83 = tail call ptr %81(ptr noundef %82, ptr noundef nonnull %76) #8
  %84 = icmp eq ptr %83, null
  br i1 %84, label %89, label %85

85:                                               ; preds = %78
  %86 = load ptr, ptr %0, align 8
  %87 = getelementptr inbounds %struct.ort_api, ptr %86, i64 0, i32 24
  %88 = load ptr, ptr %87, align 8
  tail call void %88(ptr noundef nonnull %83) #8
  br label %89

89:                                               ; preds = %85, %78, %74
  %90 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %91 = load ptr, ptr %90, align 8
  %92 = icmp eq ptr %91, null
  br i1 %92, label %104, label %93

93:                                               ; preds = %89
  %94 = load ptr, ptr %0, align 8
  %95 = getelementptr inbounds %struct.ort_api, ptr %94, i64 0, i32 14
  %96 = load ptr, ptr %95, align 8
  %97 = load ptr, ptr %2, align 8
  %98 = tail call ptr %96(ptr noundef %97, ptr noundef nonnull %91) #8
  %99 = icmp eq ptr %98, null
  br i1 %99, label %104, label %100

100:                                              ; preds = %93
  %101 = load ptr, ptr %0, align 8
  %102 = getelementptr inbounds %struct.ort_api, ptr %101, i64 0, i32 24
  %103 = load ptr, ptr %102, align 8
  tail call void %103(ptr noundef nonnull %98) #8
  br label %104

104:                                              ; preds = %100, %93, %89
  %105 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %106 = load ptr, ptr %105, align 8
  %107 = icmp eq ptr %106, null
  br i1 %107, label %119, label %108

108:                                              ; preds = %104
  %109 = load ptr, ptr %0, align 8
  %110 = getelementptr inbounds %struct.ort_api, ptr %109, i64 0, i32 14
  %111 = load ptr, ptr %110, align 8
  %112 = load ptr, ptr %2, align 8
  %113 = tail call ptr %111(ptr noundef %112, ptr noundef nonnull %106) #8
  %114 = icmp eq ptr %113, null
  br i1 %114, label %119, label %115

115:                                              ; preds = %108
  %116 = load ptr, ptr %0, align 8
  %117 = getelementptr inbounds %struct.ort_api, ptr %116, i64 0, i32 24
  %118 = load ptr, ptr %117, align 8
  tail call void %118(ptr noundef nonnull %113) #8
  br label %119

119:                                              ; preds = %115, %108, %104
  %120 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %121 = load ptr, ptr %120, align 8
  %122 = icmp eq ptr %121, null
  br i1 %122, label %6, label %123

123:                                              ; preds = %119
  %124 = load ptr, ptr %0, align 8
  %125 = getelementptr inbounds %struct.ort_api, ptr %124, i64 0, i32 14
  %126 = load ptr, ptr %125, align 8
  %127 = load ptr, ptr %2, align 8
  %128 = tail call ptr %126(ptr noundef %127, ptr noundef nonnull %121) #8
  %129 = icmp eq ptr %128, null
  br i1 %129, label %6, label %130

130:                                              ; preds = %123
  %131 = load ptr, ptr %0, align 8
  %132 = getelementptr inbounds %struct.ort_api, ptr %131, i64 0, i32 24
  %133 = load ptr, ptr %132, align 8
  tail call void %133(ptr noundef nonnull %128) #8
  br label %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal i32 @get_zero(ptr nocapture readnone %0, i64 %1) #4 {
  ret i32 0
}

; Function Attrs: nounwind
define internal ptr @create_kernel(ptr nocapture readnone %0, ptr noundef %1, ptr noundef %2, ptr noundef %3) #0 {
  %5 = alloca [24 x i8], align 16
  %6 = alloca [24 x i8], align 16
  %7 = alloca %struct.model_description, align 8
  %8 = alloca %struct.text, align 8
  %9 = alloca i64, align 8
  %10 = alloca %struct.model_description, align 8
  %11 = alloca [128 x i8], align 16
  %12 = alloca i64, align 8
  %13 = alloca ptr, align 8
  %14 = alloca %struct.model_description, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %13) #9
  store ptr null, ptr %13, align 8
  %15 = call i32 @model_describe(ptr noundef nonnull %14) #8
  %16 = getelementptr inbounds %struct.model_description, ptr %14, i64 0, i32 3
  %17 = load ptr, ptr %16, align 8
  %18 = icmp eq ptr %17, null
  br i1 %18, label %19, label %25

19:                                               ; preds = %4
  %20 = call i32 @model_init() #8
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %25, label %22

22:                                               ; preds = %19
  %23 = call ptr @model_status_text(i32 noundef %20) #8
  %24 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 9, ptr noundef %23) #10
  br label %301

25:                                               ; preds = %4, %19
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %10) #9
  %26 = call i32 @model_describe(ptr noundef nonnull %10) #8
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(128) %11, i8 0, i64 128, i1 false)
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store i64 128, ptr %12, align 8
  %27 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 19
  %28 = load ptr, ptr %27, align 8
  %29 = call ptr %28(ptr noundef %2, ptr noundef nonnull @.str.4, ptr noundef nonnull %11, ptr noundef nonnull %12) #8
  %30 = icmp eq ptr %29, null
  br i1 %30, label %31, label %53

31:                                               ; preds = %25
  %32 = getelementptr inbounds %struct.model_description, ptr %10, i64 0, i32 1
  %33 = load ptr, ptr %32, align 8
  %34 = load i8, ptr %11, align 16
  %35 = icmp eq i8 %34, 0
  br i1 %35, label %47, label %36

36:                                               ; preds = %31, %42
  %37 = phi i8 [ %45, %42 ], [ %34, %31 ]
  %38 = phi ptr [ %44, %42 ], [ %33, %31 ]
  %39 = phi ptr [ %43, %42 ], [ %11, %31 ]
  %40 = load i8, ptr %38, align 1
  %41 = icmp eq i8 %37, %40
  br i1 %41, label %42, label %47

42:                                               ; preds = %36
  %43 = getelementptr inbounds i8, ptr %39, i64 1
  %44 = getelementptr inbounds i8, ptr %38, i64 1
  %45 = load i8, ptr %43, align 1
  %46 = icmp eq i8 %45, 0
  br i1 %46, label %47, label %36, !llvm.loop !5

47:                                               ; preds = %42, %36, %31
  %48 = phi ptr [ %33, %31 ], [ %44, %42 ], [ %38, %36 ]
  %49 = phi i8 [ 0, %31 ], [ 0, %42 ], [ %37, %36 ]
  %50 = load i8, ptr %48, align 1
  %51 = icmp eq i8 %49, %50
  br i1 %51, label %52, label %56

52:                                               ; preds = %47
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  br label %59

53:                                               ; preds = %25
  %54 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %55 = load ptr, ptr %54, align 8
  call void %55(ptr noundef nonnull %29) #8
  br label %56

56:                                               ; preds = %47, %53
  %57 = call fastcc ptr @fail(ptr noundef %1, i32 noundef 2, ptr noundef nonnull @.str.5) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %10) #9
  %58 = icmp eq ptr %57, null
  br i1 %58, label %59, label %301

59:                                               ; preds = %52, %56
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %8) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9) #9
  store i64 0, ptr %9, align 8
  %60 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 18
  %61 = load ptr, ptr %60, align 8
  %62 = call ptr %61(ptr noundef %2, ptr noundef nonnull @.str.6, ptr noundef nonnull %9) #8
  %63 = icmp eq ptr %62, null
  br i1 %63, label %69, label %64

64:                                               ; preds = %59
  %65 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 24
  %66 = load ptr, ptr %65, align 8
  call void %66(ptr noundef nonnull %62) #8
  %67 = load i64, ptr %9, align 8
  %68 = trunc i64 %67 to i32
  br label %75

69:                                               ; preds = %59
  %70 = load i64, ptr %9, align 8
  %71 = trunc i64 %70 to i32
  %72 = add i64 %70, -1
  %73 = icmp ult i64 %72, 64
  br i1 %73, label %74, label %75

74:                                               ; preds = %69
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %8) #9
  br label %279

75:                                               ; preds = %69, %64
  %76 = phi i32 [ %71, %69 ], [ %68, %64 ]
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %7)
  store i64 0, ptr %8, align 8
  %77 = call i32 @model_describe(ptr noundef nonnull %7) #8
  %78 = load ptr, ptr %7, align 8
  %79 = load i8, ptr %78, align 1
  %80 = icmp eq i8 %79, 0
  br i1 %80, label %92, label %81

81:                                               ; preds = %75, %86
  %82 = phi i8 [ %90, %86 ], [ %79, %75 ]
  %83 = phi ptr [ %87, %86 ], [ %78, %75 ]
  %84 = load i64, ptr %8, align 8
  %85 = icmp ult i64 %84, 511
  br i1 %85, label %86, label %92

86:                                               ; preds = %81
  %87 = getelementptr inbounds i8, ptr %83, i64 1
  %88 = add nuw nsw i64 %84, 1
  store i64 %88, ptr %8, align 8
  %89 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %84
  store i8 %82, ptr %89, align 1
  %90 = load i8, ptr %87, align 1
  %91 = icmp eq i8 %90, 0
  br i1 %91, label %92, label %81, !llvm.loop !4

92:                                               ; preds = %86, %81, %75
  %93 = load i64, ptr %8, align 8
  %94 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %93
  store i8 0, ptr %94, align 1
  %95 = load i64, ptr %8, align 8
  %96 = icmp ult i64 %95, 511
  br i1 %96, label %97, label %106

97:                                               ; preds = %92
  %98 = add nuw nsw i64 %95, 1
  store i64 %98, ptr %8, align 8
  %99 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %95
  store i8 58, ptr %99, align 1
  %100 = load i64, ptr %8, align 8
  %101 = icmp ult i64 %100, 511
  br i1 %101, label %102, label %106

102:                                              ; preds = %97
  %103 = add nuw nsw i64 %100, 1
  store i64 %103, ptr %8, align 8
  %104 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %100
  store i8 32, ptr %104, align 1
  %105 = load i64, ptr %8, align 8
  br label %106

106:                                              ; preds = %102, %97, %92
  %107 = phi i64 [ %105, %102 ], [ %100, %97 ], [ %95, %92 ]
  %108 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %107
  store i8 0, ptr %108, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %7)
  %109 = load i64, ptr %8, align 8
  %110 = icmp ult i64 %109, 511
  br i1 %110, label %111, label %175

111:                                              ; preds = %106
  %112 = add nuw nsw i64 %109, 1
  store i64 %112, ptr %8, align 8
  %113 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %109
  store i8 116, ptr %113, align 1
  %114 = load i64, ptr %8, align 8
  %115 = icmp ult i64 %114, 511
  br i1 %115, label %116, label %175

116:                                              ; preds = %111
  %117 = add nuw nsw i64 %114, 1
  store i64 %117, ptr %8, align 8
  %118 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %114
  store i8 104, ptr %118, align 1
  %119 = load i64, ptr %8, align 8
  %120 = icmp ult i64 %119, 511
  br i1 %120, label %121, label %175

121:                                              ; preds = %116
  %122 = add nuw nsw i64 %119, 1
  store i64 %122, ptr %8, align 8
  %123 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %119
  store i8 101, ptr %123, align 1
  %124 = load i64, ptr %8, align 8
  %125 = icmp ult i64 %124, 511
  br i1 %125, label %126, label %175

126:                                              ; preds = %121
  %127 = add nuw nsw i64 %124, 1
  store i64 %127, ptr %8, align 8
  %128 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %124
  store i8 32, ptr %128, align 1
  %129 = load i64, ptr %8, align 8
  %130 = icmp ult i64 %129, 511
  br i1 %130, label %131, label %175

131:                                              ; preds = %126
  %132 = add nuw nsw i64 %129, 1
  store i64 %132, ptr %8, align 8
  %133 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %129
  store i8 110, ptr %133, align 1
  %134 = load i64, ptr %8, align 8
  %135 = icmp ult i64 %134, 511
  br i1 %135, label %136, label %175

136:                                              ; preds = %131
  %137 = add nuw nsw i64 %134, 1
  store i64 %137, ptr %8, align 8
  %138 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %134
  store i8 111, ptr %138, align 1
  %139 = load i64, ptr %8, align 8
  %140 = icmp ult i64 %139, 511
  br i1 %140, label %141, label %175

141:                                              ; preds = %136
  %142 = add nuw nsw i64 %139, 1
  store i64 %142, ptr %8, align 8
  %143 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %139
  store i8 100, ptr %143, align 1
  %144 = load i64, ptr %8, align 8
  %145 = icmp ult i64 %144, 511
  br i1 %145, label %146, label %175

146:                                              ; preds = %141
  %147 = add nuw nsw i64 %144, 1
  store i64 %147, ptr %8, align 8
  %148 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %144
  store i8 101, ptr %148, align 1
  %149 = load i64, ptr %8, align 8
  %150 = icmp ult i64 %149, 511
  br i1 %150, label %151, label %175

151:                                              ; preds = %146
  %152 = add nuw nsw i64 %149, 1
  store i64 %152, ptr %8, align 8
  %153 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %149
  store i8 32, ptr %153, align 1
  %154 = load i64, ptr %8, align 8
  %155 = icmp ult i64 %154, 511
  br i1 %155, label %156, label %175

156:                                              ; preds = %151
  %157 = add nuw nsw i64 %154, 1
  store i64 %157, ptr %8, align 8
  %158 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %154
  store i8 104, ptr %158, align 1
  %159 = load i64, ptr %8, align 8
  %160 = icmp ult i64 %159, 511
  br i1 %160, label %161, label %175

161:                                              ; preds = %156
  %162 = add nuw nsw i64 %159, 1
  store i64 %162, ptr %8, align 8
  %163 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %159
  store i8 97, ptr %163, align 1
  %164 = load i64, ptr %8, align 8
  %165 = icmp ult i64 %164, 511
  br i1 %165, label %166, label %175

166:                                              ; preds = %161
  %167 = add nuw nsw i64 %164, 1
  store i64 %167, ptr %8, align 8
  %168 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %164
  store i8 115, ptr %168, align 1
  %169 = load i64, ptr %8, align 8
  %170 = icmp ult i64 %169, 511
  br i1 %170, label %171, label %175

171:                                              ; preds = %166
  %172 = add nuw nsw i64 %169, 1
  store i64 %172, ptr %8, align 8
  %173 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %169
  store i8 32, ptr %173, align 1
  %174 = load i64, ptr %8, align 8
  br label %175

175:                                              ; preds = %171, %166, %161, %156, %151, %146, %141, %136, %131, %126, %121, %116, %111, %106
  %176 = phi i64 [ %174, %171 ], [ %169, %166 ], [ %164, %161 ], [ %159, %156 ], [ %154, %151 ], [ %149, %146 ], [ %144, %141 ], [ %139, %136 ], [ %134, %131 ], [ %129, %126 ], [ %124, %121 ], [ %119, %116 ], [ %114, %111 ], [ %109, %106 ]
  %177 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %176
  store i8 0, ptr %177, align 1
  %178 = select i1 %63, ptr @.str.9, ptr @.str.8
  %179 = load i8, ptr %178, align 1
  %180 = icmp eq i8 %179, 0
  br i1 %180, label %192, label %181

181:                                              ; preds = %175, %186
  %182 = phi i8 [ %190, %186 ], [ %179, %175 ]
  %183 = phi ptr [ %187, %186 ], [ %178, %175 ]
  %184 = load i64, ptr %8, align 8
  %185 = icmp ult i64 %184, 511
  br i1 %185, label %186, label %192

186:                                              ; preds = %181
  %187 = getelementptr inbounds i8, ptr %183, i64 1
  %188 = add nuw nsw i64 %184, 1
  store i64 %188, ptr %8, align 8
  %189 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %184
  store i8 %182, ptr %189, align 1
  %190 = load i8, ptr %187, align 1
  %191 = icmp eq i8 %190, 0
  br i1 %191, label %192, label %181, !llvm.loop !4

192:                                              ; preds = %186, %181, %175
  %193 = load i64, ptr %8, align 8
  %194 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %193
  store i8 0, ptr %194, align 1
  br i1 %63, label %195, label %231

195:                                              ; preds = %192
  %196 = load i64, ptr %9, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %6) #9
  %197 = getelementptr inbounds i8, ptr %6, i64 23
  %198 = call i64 @llvm.abs.i64(i64 %196, i1 false)
  store i8 0, ptr %197, align 1
  br label %199

199:                                              ; preds = %199, %195
  %200 = phi ptr [ %197, %195 ], [ %205, %199 ]
  %201 = phi i64 [ %198, %195 ], [ %206, %199 ]
  %202 = urem i64 %201, 10
  %203 = trunc i64 %202 to i8
  %204 = or i8 %203, 48
  %205 = getelementptr inbounds i8, ptr %200, i64 -1
  store i8 %204, ptr %205, align 1
  %206 = udiv i64 %201, 10
  %207 = icmp ult i64 %201, 10
  br i1 %207, label %208, label %199, !llvm.loop !7

208:                                              ; preds = %199
  %209 = icmp slt i64 %196, 0
  br i1 %209, label %210, label %212

210:                                              ; preds = %208
  %211 = getelementptr inbounds i8, ptr %200, i64 -2
  store i8 45, ptr %211, align 1
  br label %212

212:                                              ; preds = %210, %208
  %213 = phi i8 [ %204, %208 ], [ 45, %210 ]
  %214 = phi ptr [ %205, %208 ], [ %211, %210 ]
  br label %215

215:                                              ; preds = %212, %220
  %216 = phi i8 [ %224, %220 ], [ %213, %212 ]
  %217 = phi ptr [ %221, %220 ], [ %214, %212 ]
  %218 = load i64, ptr %8, align 8
  %219 = icmp ult i64 %218, 511
  br i1 %219, label %220, label %228

220:                                              ; preds = %215
  %221 = getelementptr inbounds i8, ptr %217, i64 1
  %222 = add nuw nsw i64 %218, 1
  store i64 %222, ptr %8, align 8
  %223 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %218
  store i8 %216, ptr %223, align 1
  %224 = load i8, ptr %221, align 1
  %225 = icmp eq i8 %224, 0
  br i1 %225, label %226, label %215, !llvm.loop !4

226:                                              ; preds = %220
  %227 = load i64, ptr %8, align 8
  br label %228

228:                                              ; preds = %215, %226
  %229 = phi i64 [ %227, %226 ], [ %218, %215 ]
  %230 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %229
  store i8 0, ptr %230, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %6) #9
  br label %231

231:                                              ; preds = %228, %192
  br label %232

232:                                              ; preds = %246, %231
  %233 = phi i8 [ 32, %231 ], [ %250, %246 ]
  %234 = phi ptr [ @.str.10, %231 ], [ %247, %246 ]
  %235 = load i64, ptr %8, align 8
  %236 = icmp ult i64 %235, 511
  br i1 %236, label %237, label %253

237:                                              ; preds = %232
  %238 = getelementptr inbounds i8, ptr %234, i64 1
  %239 = add nuw nsw i64 %235, 1
  store i64 %239, ptr %8, align 8
  %240 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %235
  store i8 %233, ptr %240, align 1
  %241 = load i8, ptr %238, align 1
  %242 = icmp eq ptr %238, getelementptr inbounds ([44 x i8], ptr @.str.10, i64 0, i64 43)
  br i1 %242, label %251, label %243, !llvm.loop !4

243:                                              ; preds = %237
  %244 = load i64, ptr %8, align 8
  %245 = icmp ult i64 %244, 511
  br i1 %245, label %246, label %253

246:                                              ; preds = %243
  %247 = getelementptr inbounds i8, ptr %234, i64 2
  %248 = add nuw nsw i64 %244, 1
  store i64 %248, ptr %8, align 8
  %249 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %244
  store i8 %241, ptr %249, align 1
  %250 = load i8, ptr %247, align 1
  br label %232

251:                                              ; preds = %237
  %252 = load i64, ptr %8, align 8
  br label %253

253:                                              ; preds = %232, %243, %251
  %254 = phi i64 [ %252, %251 ], [ %235, %232 ], [ %244, %243 ]
  %255 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %254
  store i8 0, ptr %255, align 1
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %5) #9
  %256 = getelementptr inbounds i8, ptr %5, i64 23
  store i8 0, ptr %256, align 1
  %257 = getelementptr inbounds i8, ptr %5, i64 22
  store i8 52, ptr %257, align 2
  %258 = getelementptr inbounds i8, ptr %5, i64 21
  store i8 54, ptr %258, align 1
  br label %259

259:                                              ; preds = %264, %253
  %260 = phi i8 [ %268, %264 ], [ 54, %253 ]
  %261 = phi ptr [ %265, %264 ], [ %258, %253 ]
  %262 = load i64, ptr %8, align 8
  %263 = icmp ult i64 %262, 511
  br i1 %263, label %264, label %272

264:                                              ; preds = %259
  %265 = getelementptr inbounds i8, ptr %261, i64 1
  %266 = add nuw nsw i64 %262, 1
  store i64 %266, ptr %8, align 8
  %267 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %262
  store i8 %260, ptr %267, align 1
  %268 = load i8, ptr %265, align 1
  %269 = icmp eq i8 %268, 0
  br i1 %269, label %270, label %259, !llvm.loop !4

270:                                              ; preds = %264
  %271 = load i64, ptr %8, align 8
  br label %272

272:                                              ; preds = %259, %270
  %273 = phi i64 [ %271, %270 ], [ %262, %259 ]
  %274 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1, i64 %273
  store i8 0, ptr %274, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %5) #9
  %275 = load ptr, ptr %1, align 8
  %276 = getelementptr inbounds %struct.text, ptr %8, i64 0, i32 1
  %277 = call ptr %275(i32 noundef 2, ptr noundef nonnull %276) #8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %8) #9
  %278 = icmp eq ptr %277, null
  br i1 %278, label %279, label %301

279:                                              ; preds = %272, %74
  %280 = phi i32 [ %71, %74 ], [ %76, %272 ]
  %281 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 16
  %282 = load ptr, ptr %281, align 8
  %283 = call ptr %282(ptr noundef nonnull %13) #8
  %284 = icmp eq ptr %283, null
  br i1 %284, label %285, label %301

285:                                              ; preds = %279
  %286 = getelementptr inbounds %struct.ort_api, ptr %1, i64 0, i32 13
  %287 = load ptr, ptr %286, align 8
  %288 = load ptr, ptr %13, align 8
  %289 = call ptr %287(ptr noundef %288, i64 noundef 88, ptr noundef %3) #8
  %290 = icmp eq ptr %289, null
  br i1 %290, label %291, label %301

291:                                              ; preds = %285
  %292 = load ptr, ptr %3, align 8
  %293 = icmp eq ptr %292, null
  br i1 %293, label %294, label %296

294:                                              ; preds = %291
  %295 = call fastcc ptr @fail(ptr noundef nonnull %1, i32 noundef 6, ptr noundef nonnull @.str.3) #10
  br label %301

296:                                              ; preds = %291
  %297 = load ptr, ptr %13, align 8
  store ptr %1, ptr %292, align 8
  %298 = getelementptr inbounds i8, ptr %292, i64 8
  store ptr %297, ptr %298, align 8
  %299 = getelementptr inbounds i8, ptr %292, i64 16
  store i32 %280, ptr %299, align 8
  %300 = getelementptr inbounds i8, ptr %292, i64 20
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(68) %300, i8 0, i64 68, i1 false)
  br label %301

301:                                              ; preds = %56, %272, %279, %294, %296, %285, %22
  %302 = phi ptr [ %24, %22 ], [ null, %296 ], [ %295, %294 ], [ %289, %285 ], [ %283, %279 ], [ %277, %272 ], [ %57, %56 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %13) #9
  ret ptr %302
}

; Function Attrs: nounwind
define internal ptr @compute(ptr noundef %0, ptr noundef %1) #0 {
  %3 = alloca ptr, align 8
  %4 = alloca %struct.model_tensor, align 8
  %5 = alloca %struct.model_description, align 8
  %6 = alloca %struct.text, align 8
  %7 = alloca ptr, align 8
  %8 = alloca [8 x i64], align 16
  %9 = alloca i64, align 8
  %10 = alloca ptr, align 8
  %11 = alloca %struct.model_tensor, align 8
  %12 = alloca ptr, align 8
  %13 = alloca %struct.model_threads, align 8
  %14 = alloca ptr, align 8
  %15 = alloca %struct.run, align 8
  %16 = alloca %struct.model_tensor, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %15) #9
  store ptr %0, ptr %15, align 8
  %17 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 1
  store ptr %1, ptr %17, align 8
  %18 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 2
  %19 = call i32 @model_describe(ptr noundef nonnull %18) #8
  %20 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 3
  store ptr null, ptr %20, align 8
  %21 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 4
  store ptr null, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 5
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 6
  store ptr null, ptr %23, align 8
  %24 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 7
  store ptr null, ptr %24, align 8
  %25 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 2, i32 6
  %26 = load i32, ptr %25, align 4
  %27 = getelementptr inbounds %struct.run, ptr %15, i64 0, i32 2, i32 7
  %28 = load i32, ptr %27, align 8
  %29 = add i32 %28, %26
  %30 = zext i32 %29 to i64
  %31 = shl nuw nsw i64 %30, 4
  %32 = zext i32 %28 to i64
  %33 = shl nuw nsw i64 %32, 3
  %34 = add nuw nsw i64 %33, 63
  %35 = add nuw nsw i64 %34, %31
  %36 = and i64 %35, 137438953408
  %37 = sub i32 0, %26
  %38 = icmp eq i32 %28, %37
  br i1 %38, label %43, label %39

39:                                               ; preds = %2
  %40 = getelementptr inbounds %struct.model_tensor, ptr %16, i64 0, i32 5
  br label %50

41:                                               ; preds = %62
  %42 = load ptr, ptr %20, align 8
  br label %43

43:                                               ; preds = %41, %2
  %44 = phi ptr [ null, %2 ], [ %42, %41 ]
  %45 = phi i64 [ %36, %2 ], [ %66, %41 ]
  %46 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 2
  %47 = load i32, ptr %46, align 8
  %48 = call i64 @model_workspace_bytes(ptr noundef %44, i32 noundef %47) #8
  %49 = icmp slt i64 %48, 0
  br i1 %49, label %72, label %77

50:                                               ; preds = %39, %62
  %51 = phi i32 [ %26, %39 ], [ %68, %62 ]
  %52 = phi i32 [ 0, %39 ], [ %67, %62 ]
  %53 = phi i64 [ %36, %39 ], [ %66, %62 ]
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %16) #9
  %54 = icmp ult i32 %52, %51
  br i1 %54, label %55, label %58

55:                                               ; preds = %50
  %56 = load ptr, ptr %20, align 8
  %57 = call i32 @model_input(i32 noundef %52, ptr noundef %56, ptr noundef nonnull %16) #8
  br label %62

58:                                               ; preds = %50
  %59 = sub i32 %52, %51
  %60 = load ptr, ptr %20, align 8
  %61 = call i32 @model_output(i32 noundef %59, ptr noundef %60, ptr noundef nonnull %16) #8
  br label %62

62:                                               ; preds = %55, %58
  %63 = load i64, ptr %40, align 8
  %64 = add i64 %63, 63
  %65 = and i64 %64, -64
  %66 = add i64 %65, %53
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %16) #9
  %67 = add nuw i32 %52, 1
  %68 = load i32, ptr %25, align 4
  %69 = load i32, ptr %27, align 8
  %70 = add i32 %69, %68
  %71 = icmp ult i32 %67, %70
  br i1 %71, label %50, label %41, !llvm.loop !8

72:                                               ; preds = %43
  %73 = load ptr, ptr %0, align 8
  %74 = trunc i64 %48 to i32
  %75 = call ptr @model_status_text(i32 noundef %74) #8
  %76 = call fastcc ptr @fail(ptr noundef %73, i32 noundef 6, ptr noundef %75) #10
  br label %614

77:                                               ; preds = %43
  %78 = add i64 %48, %45
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %14) #9
  store ptr null, ptr %14, align 8
  %79 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3
  %80 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 1
  br label %81

81:                                               ; preds = %102, %77
  %82 = phi i64 [ 0, %77 ], [ %103, %102 ]
  %83 = getelementptr inbounds ptr, ptr %79, i64 %82
  %84 = atomicrmw xchg ptr %83, i64 0 acq_rel, align 8
  %85 = inttoptr i64 %84 to ptr
  %86 = icmp eq i64 %84, 0
  br i1 %86, label %102, label %87

87:                                               ; preds = %81
  %88 = getelementptr inbounds %struct.block, ptr %85, i64 0, i32 1
  %89 = load i64, ptr %88, align 8
  %90 = icmp ult i64 %89, %78
  br i1 %90, label %91, label %124

91:                                               ; preds = %87
  %92 = load ptr, ptr %0, align 8
  %93 = getelementptr inbounds %struct.ort_api, ptr %92, i64 0, i32 14
  %94 = load ptr, ptr %93, align 8
  %95 = load ptr, ptr %80, align 8
  %96 = call ptr %94(ptr noundef %95, ptr noundef nonnull %85) #8
  %97 = icmp eq ptr %96, null
  br i1 %97, label %102, label %98

98:                                               ; preds = %91
  %99 = load ptr, ptr %0, align 8
  %100 = getelementptr inbounds %struct.ort_api, ptr %99, i64 0, i32 24
  %101 = load ptr, ptr %100, align 8
  call void %101(ptr noundef nonnull %96) #8
  br label %102

102:                                              ; preds = %98, %91, %81
  %103 = add nuw nsw i64 %82, 1
  %104 = icmp eq i64 %103, 8
  br i1 %104, label %105, label %81, !llvm.loop !9

105:                                              ; preds = %102
  %106 = load ptr, ptr %0, align 8
  %107 = getelementptr inbounds %struct.ort_api, ptr %106, i64 0, i32 13
  %108 = load ptr, ptr %107, align 8
  %109 = load ptr, ptr %80, align 8
  %110 = add i64 %78, 80
  %111 = call ptr %108(ptr noundef %109, i64 noundef %110, ptr noundef nonnull %14) #8
  %112 = icmp eq ptr %111, null
  br i1 %112, label %114, label %113

113:                                              ; preds = %105
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  br label %614

114:                                              ; preds = %105
  %115 = load ptr, ptr %14, align 8
  %116 = icmp eq ptr %115, null
  br i1 %116, label %128, label %117

117:                                              ; preds = %114
  %118 = getelementptr inbounds %struct.block, ptr %115, i64 0, i32 1
  store i64 %78, ptr %118, align 8
  %119 = getelementptr inbounds %struct.block, ptr %115, i64 1
  %120 = ptrtoint ptr %119 to i64
  %121 = sub i64 0, %120
  %122 = and i64 %121, 63
  %123 = getelementptr inbounds i8, ptr %119, i64 %122
  store ptr %123, ptr %115, align 8
  br label %126

124:                                              ; preds = %87
  %125 = inttoptr i64 %84 to ptr
  br label %126

126:                                              ; preds = %124, %117
  %127 = phi ptr [ %115, %117 ], [ %125, %124 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  br label %132

128:                                              ; preds = %114
  %129 = load ptr, ptr %0, align 8
  %130 = call fastcc ptr @fail(ptr noundef %129, i32 noundef 6, ptr noundef nonnull @.str.11) #10
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %14) #9
  %131 = icmp eq ptr %130, null
  br i1 %131, label %132, label %614

132:                                              ; preds = %126, %128
  %133 = phi ptr [ %127, %126 ], [ null, %128 ]
  %134 = load ptr, ptr %133, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %13) #9
  %135 = load ptr, ptr %15, align 8
  %136 = getelementptr inbounds %struct.kernel, ptr %135, i64 0, i32 2
  %137 = load i32, ptr %136, align 8
  store i32 %137, ptr %13, align 8
  %138 = getelementptr inbounds %struct.model_threads, ptr %13, i64 0, i32 1
  store ptr @launch, ptr %138, align 8
  %139 = getelementptr inbounds %struct.model_threads, ptr %13, i64 0, i32 2
  store ptr %15, ptr %139, align 8
  %140 = load i32, ptr %25, align 4
  %141 = load i32, ptr %27, align 8
  store ptr %134, ptr %21, align 8
  %142 = zext i32 %140 to i64
  %143 = getelementptr inbounds %struct.model_buffer, ptr %134, i64 %142
  %144 = zext i32 %141 to i64
  %145 = getelementptr inbounds %struct.model_buffer, ptr %143, i64 %144
  store ptr %145, ptr %22, align 8
  %146 = add i32 %141, %140
  %147 = zext i32 %146 to i64
  %148 = shl nuw nsw i64 %147, 4
  %149 = shl nuw nsw i64 %144, 3
  %150 = add nuw nsw i64 %149, 63
  %151 = add nuw nsw i64 %150, %148
  %152 = and i64 %151, 137438953408
  %153 = getelementptr inbounds i8, ptr %134, i64 %152
  store ptr %153, ptr %23, align 8
  %154 = icmp eq i32 %140, 0
  br i1 %154, label %161, label %155

155:                                              ; preds = %132
  %156 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 2
  %157 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 4
  %158 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1
  %159 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 5
  %160 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 3
  br label %168

161:                                              ; preds = %452, %132
  %162 = icmp eq i32 %141, 0
  br i1 %162, label %509, label %163

163:                                              ; preds = %161
  %164 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 4
  %165 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 2
  %166 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 5
  %167 = getelementptr inbounds %struct.model_tensor, ptr %4, i64 0, i32 3
  br label %455

168:                                              ; preds = %452, %155
  %169 = phi i64 [ 0, %155 ], [ %453, %452 ]
  %170 = load ptr, ptr %15, align 8
  %171 = load ptr, ptr %170, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %10) #9
  store ptr null, ptr %10, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %11) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %12) #9
  store ptr null, ptr %12, align 8
  %172 = load i32, ptr %25, align 4
  %173 = zext i32 %172 to i64
  %174 = icmp ult i64 %169, %173
  br i1 %174, label %175, label %179

175:                                              ; preds = %168
  %176 = load ptr, ptr %20, align 8
  %177 = trunc i64 %169 to i32
  %178 = call i32 @model_input(i32 noundef %177, ptr noundef %176, ptr noundef nonnull %11) #8
  br label %184

179:                                              ; preds = %168
  %180 = trunc i64 %169 to i32
  %181 = sub i32 %180, %172
  %182 = load ptr, ptr %20, align 8
  %183 = call i32 @model_output(i32 noundef %181, ptr noundef %182, ptr noundef nonnull %11) #8
  br label %184

184:                                              ; preds = %179, %175
  %185 = getelementptr inbounds %struct.ort_api, ptr %171, i64 0, i32 21
  %186 = load ptr, ptr %185, align 8
  %187 = load ptr, ptr %17, align 8
  %188 = call ptr %186(ptr noundef %187, i64 noundef %169, ptr noundef nonnull %10) #8
  %189 = icmp eq ptr %188, null
  br i1 %189, label %190, label %450

190:                                              ; preds = %184
  %191 = load ptr, ptr %10, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %7) #9
  store ptr null, ptr %7, align 8
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9) #9
  store i64 0, ptr %9, align 8
  %192 = getelementptr inbounds %struct.ort_api, ptr %171, i64 0, i32 11
  %193 = load ptr, ptr %192, align 8
  %194 = call ptr %193(ptr noundef %191, ptr noundef nonnull %7) #8
  %195 = icmp eq ptr %194, null
  br i1 %195, label %196, label %415

196:                                              ; preds = %190
  %197 = getelementptr inbounds %struct.ort_api, ptr %171, i64 0, i32 8
  %198 = load ptr, ptr %197, align 8
  %199 = load ptr, ptr %7, align 8
  %200 = call ptr %198(ptr noundef %199, ptr noundef nonnull %9) #8
  %201 = icmp eq ptr %200, null
  br i1 %201, label %202, label %209

202:                                              ; preds = %196
  %203 = getelementptr inbounds %struct.ort_api, ptr %171, i64 0, i32 9
  %204 = load ptr, ptr %203, align 8
  %205 = load ptr, ptr %7, align 8
  %206 = load i64, ptr %9, align 8
  %207 = call i64 @llvm.umin.i64(i64 %206, i64 8)
  %208 = call ptr %204(ptr noundef %205, ptr noundef nonnull %8, i64 noundef %207) #8
  br label %209

209:                                              ; preds = %202, %196
  %210 = phi ptr [ %200, %196 ], [ %208, %202 ]
  %211 = getelementptr inbounds %struct.ort_api, ptr %171, i64 0, i32 26
  %212 = load ptr, ptr %211, align 8
  %213 = load ptr, ptr %7, align 8
  call void %212(ptr noundef %213) #8
  %214 = icmp eq ptr %210, null
  br i1 %214, label %215, label %415

215:                                              ; preds = %209
  %216 = load i64, ptr %9, align 8
  %217 = load i32, ptr %156, align 8
  %218 = zext i32 %217 to i64
  %219 = icmp eq i64 %216, %218
  %220 = icmp ne i64 %216, 0
  %221 = and i1 %220, %219
  br i1 %221, label %225, label %222

222:                                              ; preds = %225, %215
  %223 = phi i1 [ %219, %215 ], [ %231, %225 ]
  br i1 %223, label %224, label %235

224:                                              ; preds = %222
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #9
  br label %425

225:                                              ; preds = %215, %225
  %226 = phi i64 [ %232, %225 ], [ 0, %215 ]
  %227 = getelementptr inbounds [8 x i64], ptr %8, i64 0, i64 %226
  %228 = load i64, ptr %227, align 8
  %229 = getelementptr inbounds %struct.model_tensor, ptr %11, i64 0, i32 4, i64 %226
  %230 = load i64, ptr %229, align 8
  %231 = icmp eq i64 %228, %230
  %232 = add nuw i64 %226, 1
  %233 = icmp ult i64 %232, %216
  %234 = select i1 %231, i1 %233, i1 false
  br i1 %234, label %225, label %222, !llvm.loop !10

235:                                              ; preds = %222
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %6) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %5)
  store i64 0, ptr %6, align 8
  %236 = call i32 @model_describe(ptr noundef nonnull %5) #8
  %237 = load ptr, ptr %5, align 8
  %238 = load i8, ptr %237, align 1
  %239 = icmp eq i8 %238, 0
  br i1 %239, label %251, label %240

240:                                              ; preds = %235, %245
  %241 = phi i8 [ %249, %245 ], [ %238, %235 ]
  %242 = phi ptr [ %246, %245 ], [ %237, %235 ]
  %243 = load i64, ptr %6, align 8
  %244 = icmp ult i64 %243, 511
  br i1 %244, label %245, label %251

245:                                              ; preds = %240
  %246 = getelementptr inbounds i8, ptr %242, i64 1
  %247 = add nuw nsw i64 %243, 1
  store i64 %247, ptr %6, align 8
  %248 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %243
  store i8 %241, ptr %248, align 1
  %249 = load i8, ptr %246, align 1
  %250 = icmp eq i8 %249, 0
  br i1 %250, label %251, label %240, !llvm.loop !4

251:                                              ; preds = %245, %240, %235
  %252 = load i64, ptr %6, align 8
  %253 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %252
  store i8 0, ptr %253, align 1
  %254 = load i64, ptr %6, align 8
  %255 = icmp ult i64 %254, 511
  br i1 %255, label %256, label %265

256:                                              ; preds = %251
  %257 = add nuw nsw i64 %254, 1
  store i64 %257, ptr %6, align 8
  %258 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %254
  store i8 58, ptr %258, align 1
  %259 = load i64, ptr %6, align 8
  %260 = icmp ult i64 %259, 511
  br i1 %260, label %261, label %265

261:                                              ; preds = %256
  %262 = add nuw nsw i64 %259, 1
  store i64 %262, ptr %6, align 8
  %263 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %259
  store i8 32, ptr %263, align 1
  %264 = load i64, ptr %6, align 8
  br label %265

265:                                              ; preds = %261, %256, %251
  %266 = phi i64 [ %264, %261 ], [ %259, %256 ], [ %254, %251 ]
  %267 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %266
  store i8 0, ptr %267, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %5)
  %268 = load i64, ptr %6, align 8
  %269 = icmp ult i64 %268, 511
  br i1 %269, label %270, label %304

270:                                              ; preds = %265
  %271 = add nuw nsw i64 %268, 1
  store i64 %271, ptr %6, align 8
  %272 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %268
  store i8 105, ptr %272, align 1
  %273 = load i64, ptr %6, align 8
  %274 = icmp ult i64 %273, 511
  br i1 %274, label %275, label %304

275:                                              ; preds = %270
  %276 = add nuw nsw i64 %273, 1
  store i64 %276, ptr %6, align 8
  %277 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %273
  store i8 110, ptr %277, align 1
  %278 = load i64, ptr %6, align 8
  %279 = icmp ult i64 %278, 511
  br i1 %279, label %280, label %304

280:                                              ; preds = %275
  %281 = add nuw nsw i64 %278, 1
  store i64 %281, ptr %6, align 8
  %282 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %278
  store i8 112, ptr %282, align 1
  %283 = load i64, ptr %6, align 8
  %284 = icmp ult i64 %283, 511
  br i1 %284, label %285, label %304

285:                                              ; preds = %280
  %286 = add nuw nsw i64 %283, 1
  store i64 %286, ptr %6, align 8
  %287 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %283
  store i8 117, ptr %287, align 1
  %288 = load i64, ptr %6, align 8
  %289 = icmp ult i64 %288, 511
  br i1 %289, label %290, label %304

290:                                              ; preds = %285
  %291 = add nuw nsw i64 %288, 1
  store i64 %291, ptr %6, align 8
  %292 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %288
  store i8 116, ptr %292, align 1
  %293 = load i64, ptr %6, align 8
  %294 = icmp ult i64 %293, 511
  br i1 %294, label %295, label %304

295:                                              ; preds = %290
  %296 = add nuw nsw i64 %293, 1
  store i64 %296, ptr %6, align 8
  %297 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %293
  store i8 32, ptr %297, align 1
  %298 = load i64, ptr %6, align 8
  %299 = icmp ult i64 %298, 511
  br i1 %299, label %300, label %304

300:                                              ; preds = %295
  %301 = add nuw nsw i64 %298, 1
  store i64 %301, ptr %6, align 8
  %302 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %298
  store i8 39, ptr %302, align 1
  %303 = load i64, ptr %6, align 8
  br label %304

304:                                              ; preds = %300, %295, %290, %285, %280, %275, %270, %265
  %305 = phi i64 [ %303, %300 ], [ %298, %295 ], [ %293, %290 ], [ %288, %285 ], [ %283, %280 ], [ %278, %275 ], [ %273, %270 ], [ %268, %265 ]
  %306 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %305
  store i8 0, ptr %306, align 1
  %307 = load ptr, ptr %11, align 8
  %308 = load i8, ptr %307, align 1
  %309 = icmp eq i8 %308, 0
  br i1 %309, label %321, label %310

310:                                              ; preds = %304, %315
  %311 = phi i8 [ %319, %315 ], [ %308, %304 ]
  %312 = phi ptr [ %316, %315 ], [ %307, %304 ]
  %313 = load i64, ptr %6, align 8
  %314 = icmp ult i64 %313, 511
  br i1 %314, label %315, label %321

315:                                              ; preds = %310
  %316 = getelementptr inbounds i8, ptr %312, i64 1
  %317 = add nuw nsw i64 %313, 1
  store i64 %317, ptr %6, align 8
  %318 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %313
  store i8 %311, ptr %318, align 1
  %319 = load i8, ptr %316, align 1
  %320 = icmp eq i8 %319, 0
  br i1 %320, label %321, label %310, !llvm.loop !4

321:                                              ; preds = %315, %310, %304
  %322 = load i64, ptr %6, align 8
  %323 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %322
  store i8 0, ptr %323, align 1
  %324 = load i64, ptr %6, align 8
  %325 = icmp ult i64 %324, 511
  br i1 %325, label %326, label %385

326:                                              ; preds = %321
  %327 = add nuw nsw i64 %324, 1
  store i64 %327, ptr %6, align 8
  %328 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %324
  store i8 39, ptr %328, align 1
  %329 = load i64, ptr %6, align 8
  %330 = icmp ult i64 %329, 511
  br i1 %330, label %331, label %385

331:                                              ; preds = %326
  %332 = add nuw nsw i64 %329, 1
  store i64 %332, ptr %6, align 8
  %333 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %329
  store i8 32, ptr %333, align 1
  %334 = load i64, ptr %6, align 8
  %335 = icmp ult i64 %334, 511
  br i1 %335, label %336, label %385

336:                                              ; preds = %331
  %337 = add nuw nsw i64 %334, 1
  store i64 %337, ptr %6, align 8
  %338 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %334
  store i8 104, ptr %338, align 1
  %339 = load i64, ptr %6, align 8
  %340 = icmp ult i64 %339, 511
  br i1 %340, label %341, label %385

341:                                              ; preds = %336
  %342 = add nuw nsw i64 %339, 1
  store i64 %342, ptr %6, align 8
  %343 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %339
  store i8 97, ptr %343, align 1
  %344 = load i64, ptr %6, align 8
  %345 = icmp ult i64 %344, 511
  br i1 %345, label %346, label %385

346:                                              ; preds = %341
  %347 = add nuw nsw i64 %344, 1
  store i64 %347, ptr %6, align 8
  %348 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %344
  store i8 115, ptr %348, align 1
  %349 = load i64, ptr %6, align 8
  %350 = icmp ult i64 %349, 511
  br i1 %350, label %351, label %385

351:                                              ; preds = %346
  %352 = add nuw nsw i64 %349, 1
  store i64 %352, ptr %6, align 8
  %353 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %349
  store i8 32, ptr %353, align 1
  %354 = load i64, ptr %6, align 8
  %355 = icmp ult i64 %354, 511
  br i1 %355, label %356, label %385

356:                                              ; preds = %351
  %357 = add nuw nsw i64 %354, 1
  store i64 %357, ptr %6, align 8
  %358 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %354
  store i8 115, ptr %358, align 1
  %359 = load i64, ptr %6, align 8
  %360 = icmp ult i64 %359, 511
  br i1 %360, label %361, label %385

361:                                              ; preds = %356
  %362 = add nuw nsw i64 %359, 1
  store i64 %362, ptr %6, align 8
  %363 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %359
  store i8 104, ptr %363, align 1
  %364 = load i64, ptr %6, align 8
  %365 = icmp ult i64 %364, 511
  br i1 %365, label %366, label %385

366:                                              ; preds = %361
  %367 = add nuw nsw i64 %364, 1
  store i64 %367, ptr %6, align 8
  %368 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %364
  store i8 97, ptr %368, align 1
  %369 = load i64, ptr %6, align 8
  %370 = icmp ult i64 %369, 511
  br i1 %370, label %371, label %385

371:                                              ; preds = %366
  %372 = add nuw nsw i64 %369, 1
  store i64 %372, ptr %6, align 8
  %373 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %369
  store i8 112, ptr %373, align 1
  %374 = load i64, ptr %6, align 8
  %375 = icmp ult i64 %374, 511
  br i1 %375, label %376, label %385

376:                                              ; preds = %371
  %377 = add nuw nsw i64 %374, 1
  store i64 %377, ptr %6, align 8
  %378 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %374
  store i8 101, ptr %378, align 1
  %379 = load i64, ptr %6, align 8
  %380 = icmp ult i64 %379, 511
  br i1 %380, label %381, label %385

381:                                              ; preds = %376
  %382 = add nuw nsw i64 %379, 1
  store i64 %382, ptr %6, align 8
  %383 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %379
  store i8 32, ptr %383, align 1
  %384 = load i64, ptr %6, align 8
  br label %385

385:                                              ; preds = %381, %376, %371, %366, %361, %356, %351, %346, %341, %336, %331, %326, %321
  %386 = phi i64 [ %384, %381 ], [ %379, %376 ], [ %374, %371 ], [ %369, %366 ], [ %364, %361 ], [ %359, %356 ], [ %354, %351 ], [ %349, %346 ], [ %344, %341 ], [ %339, %336 ], [ %334, %331 ], [ %329, %326 ], [ %324, %321 ]
  %387 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %386
  store i8 0, ptr %387, align 1
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef nonnull %8, i64 noundef %216) #10
  br label %388

388:                                              ; preds = %405, %385
  %389 = phi i8 [ 32, %385 ], [ %411, %405 ]
  %390 = phi ptr [ @.str.14, %385 ], [ %408, %405 ]
  %391 = load i64, ptr %6, align 8
  %392 = icmp ult i64 %391, 511
  br i1 %392, label %393, label %417

393:                                              ; preds = %388
  %394 = add nuw nsw i64 %391, 1
  store i64 %394, ptr %6, align 8
  %395 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %391
  store i8 %389, ptr %395, align 1
  %396 = load i64, ptr %6, align 8
  %397 = icmp ult i64 %396, 511
  br i1 %397, label %398, label %417

398:                                              ; preds = %393
  %399 = getelementptr inbounds i8, ptr %390, i64 1
  %400 = load i8, ptr %399, align 1
  %401 = add nuw nsw i64 %396, 1
  store i64 %401, ptr %6, align 8
  %402 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %396
  store i8 %400, ptr %402, align 1
  %403 = load i64, ptr %6, align 8
  %404 = icmp ult i64 %403, 511
  br i1 %404, label %405, label %417

405:                                              ; preds = %398
  %406 = getelementptr inbounds i8, ptr %390, i64 2
  %407 = load i8, ptr %406, align 1
  %408 = getelementptr inbounds i8, ptr %390, i64 3
  %409 = add nuw nsw i64 %403, 1
  store i64 %409, ptr %6, align 8
  %410 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %403
  store i8 %407, ptr %410, align 1
  %411 = load i8, ptr %408, align 1
  %412 = icmp eq ptr %408, getelementptr inbounds ([22 x i8], ptr @.str.14, i64 0, i64 21)
  br i1 %412, label %413, label %388, !llvm.loop !4

413:                                              ; preds = %405
  %414 = load i64, ptr %6, align 8
  br label %417

415:                                              ; preds = %209, %190
  %416 = phi ptr [ %210, %209 ], [ %194, %190 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #9
  br label %450

417:                                              ; preds = %388, %393, %398, %413
  %418 = phi i64 [ %414, %413 ], [ %391, %388 ], [ %396, %393 ], [ %403, %398 ]
  %419 = getelementptr inbounds %struct.text, ptr %6, i64 0, i32 1, i64 %418
  store i8 0, ptr %419, align 1
  %420 = load i32, ptr %156, align 8
  %421 = zext i32 %420 to i64
  call fastcc void @add_shape(ptr noundef nonnull %6, ptr noundef nonnull %157, i64 noundef %421) #10
  %422 = load ptr, ptr %171, align 8
  %423 = call ptr %422(i32 noundef 2, ptr noundef nonnull %158) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %6) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #9
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %8) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #9
  %424 = icmp eq ptr %423, null
  br i1 %424, label %425, label %450

425:                                              ; preds = %417, %224
  %426 = getelementptr inbounds %struct.ort_api, ptr %171, i64 0, i32 6
  %427 = load ptr, ptr %426, align 8
  %428 = load ptr, ptr %10, align 8
  %429 = call ptr %427(ptr noundef %428, ptr noundef nonnull %12) #8
  %430 = icmp eq ptr %429, null
  br i1 %430, label %431, label %450

431:                                              ; preds = %425
  %432 = load ptr, ptr %21, align 8
  %433 = getelementptr inbounds %struct.model_buffer, ptr %432, i64 %169
  %434 = load ptr, ptr %12, align 8
  %435 = load i64, ptr %159, align 8
  %436 = ptrtoint ptr %434 to i64
  %437 = load i32, ptr %160, align 4
  %438 = zext i32 %437 to i64
  %439 = urem i64 %436, %438
  %440 = icmp eq i64 %439, 0
  %441 = load ptr, ptr %23, align 8
  %442 = select i1 %440, ptr %434, ptr %441
  %443 = add i64 %435, 63
  %444 = and i64 %443, -64
  %445 = getelementptr inbounds i8, ptr %441, i64 %444
  store ptr %445, ptr %23, align 8
  store ptr %442, ptr %433, align 8
  %446 = getelementptr inbounds i8, ptr %433, i64 8
  store i64 %435, ptr %446, align 8
  %447 = load ptr, ptr %12, align 8
  %448 = icmp eq ptr %442, %447
  br i1 %448, label %452, label %449

449:                                              ; preds = %431
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %442, ptr align 1 %447, i64 %435, i1 false)
  br label %452

450:                                              ; preds = %425, %417, %184, %415
  %451 = phi ptr [ %416, %415 ], [ %429, %425 ], [ %423, %417 ], [ %188, %184 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  br label %570

452:                                              ; preds = %449, %431
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %12) #9
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %11) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #9
  %453 = add nuw nsw i64 %169, 1
  %454 = icmp eq i64 %453, %142
  br i1 %454, label %161, label %168, !llvm.loop !11

455:                                              ; preds = %486, %163
  %456 = phi i64 [ 0, %163 ], [ %507, %486 ]
  %457 = load ptr, ptr %15, align 8
  %458 = load ptr, ptr %457, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #9
  store ptr null, ptr %3, align 8
  call void @llvm.lifetime.start.p0(i64 112, ptr nonnull %4) #9
  %459 = load i32, ptr %25, align 4
  %460 = trunc i64 %456 to i32
  %461 = add i32 %459, %460
  %462 = icmp ugt i32 %459, %461
  %463 = load ptr, ptr %20, align 8
  br i1 %462, label %464, label %466

464:                                              ; preds = %455
  %465 = call i32 @model_input(i32 noundef %461, ptr noundef %463, ptr noundef nonnull %4) #8
  br label %468

466:                                              ; preds = %455
  %467 = call i32 @model_output(i32 noundef %460, ptr noundef %463, ptr noundef nonnull %4) #8
  br label %468

468:                                              ; preds = %466, %464
  %469 = getelementptr inbounds %struct.ort_api, ptr %458, i64 0, i32 22
  %470 = load ptr, ptr %469, align 8
  %471 = load ptr, ptr %17, align 8
  %472 = load i32, ptr %165, align 8
  %473 = zext i32 %472 to i64
  %474 = call ptr %470(ptr noundef %471, i64 noundef %456, ptr noundef nonnull %164, i64 noundef %473, ptr noundef nonnull %3) #8
  %475 = icmp eq ptr %474, null
  br i1 %475, label %476, label %484

476:                                              ; preds = %468
  %477 = getelementptr inbounds %struct.ort_api, ptr %458, i64 0, i32 6
  %478 = load ptr, ptr %477, align 8
  %479 = load ptr, ptr %3, align 8
  %480 = load ptr, ptr %22, align 8
  %481 = getelementptr inbounds ptr, ptr %480, i64 %456
  %482 = call ptr %478(ptr noundef %479, ptr noundef %481) #8
  %483 = icmp eq ptr %482, null
  br i1 %483, label %486, label %484

484:                                              ; preds = %476, %468
  %485 = phi ptr [ %482, %476 ], [ %474, %468 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  br label %570

486:                                              ; preds = %476
  %487 = load ptr, ptr %21, align 8
  %488 = load i32, ptr %25, align 4
  %489 = add i32 %488, %460
  %490 = zext i32 %489 to i64
  %491 = getelementptr inbounds %struct.model_buffer, ptr %487, i64 %490
  %492 = load ptr, ptr %22, align 8
  %493 = getelementptr inbounds ptr, ptr %492, i64 %456
  %494 = load ptr, ptr %493, align 8
  %495 = load i64, ptr %166, align 8
  %496 = ptrtoint ptr %494 to i64
  %497 = load i32, ptr %167, align 4
  %498 = zext i32 %497 to i64
  %499 = urem i64 %496, %498
  %500 = icmp eq i64 %499, 0
  %501 = load ptr, ptr %23, align 8
  %502 = select i1 %500, ptr %494, ptr %501
  %503 = add i64 %495, 63
  %504 = and i64 %503, -64
  %505 = getelementptr inbounds i8, ptr %501, i64 %504
  store ptr %505, ptr %23, align 8
  store ptr %502, ptr %491, align 8
  %506 = getelementptr inbounds i8, ptr %491, i64 8
  store i64 %495, ptr %506, align 8
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %4) #9
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #9
  %507 = add nuw nsw i64 %456, 1
  %508 = icmp eq i64 %507, %144
  br i1 %508, label %509, label %455, !llvm.loop !12

509:                                              ; preds = %486, %161
  %510 = load ptr, ptr %23, align 8
  %511 = load ptr, ptr %21, align 8
  %512 = getelementptr inbounds %struct.model_buffer, ptr %511, i64 %142
  %513 = load ptr, ptr %20, align 8
  %514 = call i32 @model_run(ptr noundef %513, ptr noundef %511, ptr noundef %512, ptr %510, i64 %48, ptr noundef nonnull %13) #8
  %515 = load ptr, ptr %24, align 8
  %516 = icmp eq ptr %515, null
  br i1 %516, label %517, label %570

517:                                              ; preds = %509
  %518 = icmp eq i32 %514, 0
  br i1 %518, label %519, label %525

519:                                              ; preds = %517
  br i1 %162, label %570, label %520

520:                                              ; preds = %519
  %521 = and i64 %144, 1
  %522 = icmp eq i32 %141, 1
  br i1 %522, label %557, label %523

523:                                              ; preds = %520
  %524 = and i64 %144, 4294967294
  br label %530

525:                                              ; preds = %517
  %526 = load ptr, ptr %15, align 8
  %527 = load ptr, ptr %526, align 8
  %528 = call ptr @model_status_text(i32 noundef %514) #8
  %529 = call fastcc ptr @fail(ptr noundef %527, i32 noundef 6, ptr noundef %528) #10
  br label %570

530:                                              ; preds = %553, %523
  %531 = phi i64 [ 0, %523 ], [ %554, %553 ]
  %532 = phi i64 [ 0, %523 ], [ %555, %553 ]
  %533 = getelementptr inbounds %struct.model_buffer, ptr %512, i64 %531
  %534 = load ptr, ptr %533, align 8
  %535 = load ptr, ptr %22, align 8
  %536 = getelementptr inbounds ptr, ptr %535, i64 %531
  %537 = load ptr, ptr %536, align 8
  %538 = icmp eq ptr %534, %537
  br i1 %538, label %542, label %539

539:                                              ; preds = %530
  %540 = getelementptr inbounds %struct.model_buffer, ptr %533, i64 0, i32 1
  %541 = load i64, ptr %540, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %537, ptr align 1 %534, i64 %541, i1 false)
  br label %542

542:                                              ; preds = %539, %530
  %543 = or i64 %531, 1
  %544 = getelementptr inbounds %struct.model_buffer, ptr %512, i64 %543
  %545 = load ptr, ptr %544, align 8
  %546 = load ptr, ptr %22, align 8
  %547 = getelementptr inbounds ptr, ptr %546, i64 %543
  %548 = load ptr, ptr %547, align 8
  %549 = icmp eq ptr %545, %548
  br i1 %549, label %553, label %550

550:                                              ; preds = %542
  %551 = getelementptr inbounds %struct.model_buffer, ptr %544, i64 0, i32 1
  %552 = load i64, ptr %551, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %548, ptr align 1 %545, i64 %552, i1 false)
  br label %553

553:                                              ; preds = %550, %542
  %554 = add nuw nsw i64 %531, 2
  %555 = add i64 %532, 2
  %556 = icmp eq i64 %555, %524
  br i1 %556, label %557, label %530, !llvm.loop !13

557:                                              ; preds = %553, %520
  %558 = phi i64 [ 0, %520 ], [ %554, %553 ]
  %559 = icmp eq i64 %521, 0
  br i1 %559, label %570, label %560

560:                                              ; preds = %557
  %561 = getelementptr inbounds %struct.model_buffer, ptr %512, i64 %558
  %562 = load ptr, ptr %561, align 8
  %563 = load ptr, ptr %22, align 8
  %564 = getelementptr inbounds ptr, ptr %563, i64 %558
  %565 = load ptr, ptr %564, align 8
  %566 = icmp eq ptr %562, %565
  br i1 %566, label %570, label %567

567:                                              ; preds = %560
  %568 = getelementptr inbounds %struct.model_buffer, ptr %561, i64 0, i32 1
  %569 = load i64, ptr %568, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %565, ptr align 1 %562, i64 %569, i1 false)
  br label %570

570:                                              ; preds = %557, %567, %560, %450, %484, %509, %519, %525
  %571 = phi ptr [ %529, %525 ], [ %515, %509 ], [ null, %519 ], [ %485, %484 ], [ %451, %450 ], [ null, %560 ], [ null, %567 ], [ null, %557 ]
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %13) #9
  %572 = ptrtoint ptr %133 to i64
  %573 = cmpxchg ptr %79, i64 0, i64 %572 acq_rel monotonic, align 8
  %574 = extractvalue { i64, i1 } %573, 1
  br i1 %574, label %614, label %575

575:                                              ; preds = %570
  %576 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 1
  %577 = cmpxchg ptr %576, i64 0, i64 %572 acq_rel monotonic, align 8
  %578 = extractvalue { i64, i1 } %577, 1
  br i1 %578, label %614, label %579

579:                                              ; preds = %575
  %580 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 2
  %581 = cmpxchg ptr %580, i64 0, i64 %572 acq_rel monotonic, align 8
  %582 = extractvalue { i64, i1 } %581, 1
  br i1 %582, label %614, label %583

583:                                              ; preds = %579
  %584 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 3
  %585 = cmpxchg ptr %584, i64 0, i64 %572 acq_rel monotonic, align 8
  %586 = extractvalue { i64, i1 } %585, 1
  br i1 %586, label %614, label %587

587:                                              ; preds = %583
  %588 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 4
  %589 = cmpxchg ptr %588, i64 0, i64 %572 acq_rel monotonic, align 8
  %590 = extractvalue { i64, i1 } %589, 1
  br i1 %590, label %614, label %591

591:                                              ; preds = %587
  %592 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 5
  %593 = cmpxchg ptr %592, i64 0, i64 %572 acq_rel monotonic, align 8
  %594 = extractvalue { i64, i1 } %593, 1
  br i1 %594, label %614, label %595

595:                                              ; preds = %591
  %596 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 6
  %597 = cmpxchg ptr %596, i64 0, i64 %572 acq_rel monotonic, align 8
  %598 = extractvalue { i64, i1 } %597, 1
  br i1 %598, label %614, label %599

599:                                              ; preds = %595
  %600 = getelementptr inbounds %struct.kernel, ptr %0, i64 0, i32 3, i64 7
  %601 = cmpxchg ptr %600, i64 0, i64 %572 acq_rel monotonic, align 8
  %602 = extractvalue { i64, i1 } %601, 1
  br i1 %602, label %614, label %603

603:                                              ; preds = %599
  %604 = load ptr, ptr %0, align 8
  %605 = getelementptr inbounds %struct.ort_api, ptr %604, i64 0, i32 14
  %606 = load ptr, ptr %605, align 8
  %607 = load ptr, ptr %80, align 8
  %608 = call ptr %606(ptr noundef %607, ptr noundef nonnull %133) #8
  %609 = icmp eq ptr %608, null
  br i1 %609, label %614, label %610

610:                                              ; preds = %603
  %611 = load ptr, ptr %0, align 8
  %612 = getelementptr inbounds %struct.ort_api, ptr %611, i64 0, i32 24
  %613 = load ptr, ptr %612, align 8
  call void %613(ptr noundef nonnull %608) #8
  br label %614

614:                                              ; preds = %610, %603, %599, %595, %591, %587, %583, %579, %575, %570, %113, %128, %72
  %615 = phi ptr [ %76, %72 ], [ %130, %128 ], [ %111, %113 ], [ %571, %570 ], [ %571, %575 ], [ %571, %579 ], [ %571, %583 ], [ %571, %587 ], [ %571, %591 ], [ %571, %595 ], [ %571, %599 ], [ %571, %603 ], [ %571, %610 ]
  call void @llvm.lifetime.end.p0(i64 112, ptr nonnull %15) #9
  ret ptr %615
}

declare i32 @model_input(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_output(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

declare i32 @model_init() local_unnamed_addr #3

; Function Attrs: nounwind
define internal fastcc ptr @fail(ptr nocapture noundef readonly %0, i32 noundef %1, ptr nocapture noundef readonly %2) unnamed_addr #0 {
  %4 = alloca %struct.model_description, align 8
  %5 = alloca %struct.text, align 8
  call void @llvm.lifetime.start.p0(i64 520, ptr nonnull %5) #9
  call void @llvm.lifetime.start.p0(i64 56, ptr nonnull %4)
  store i64 0, ptr %5, align 8
  %6 = call i32 @model_describe(ptr noundef nonnull %4) #8
  %7 = load ptr, ptr %4, align 8
  %8 = load i8, ptr %7, align 1
  %9 = icmp eq i8 %8, 0
  br i1 %9, label %23, label %10

10:                                               ; preds = %3, %15
  %11 = phi i8 [ %19, %15 ], [ %8, %3 ]
  %12 = phi ptr [ %16, %15 ], [ %7, %3 ]
  %13 = load i64, ptr %5, align 8
  %14 = icmp ult i64 %13, 511
  br i1 %14, label %15, label %23

15:                                               ; preds = %10
  %16 = getelementptr inbounds i8, ptr %12, i64 1
  %17 = add nuw nsw i64 %13, 1
  store i64 %17, ptr %5, align 8
  %18 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %13
  store i8 %11, ptr %18, align 1
  %19 = load i8, ptr %16, align 1
  %20 = icmp eq i8 %19, 0
  br i1 %20, label %21, label %10, !llvm.loop !4

21:                                               ; preds = %15
  %22 = load i64, ptr %5, align 8
  br label %23

23:                                               ; preds = %10, %21, %3
  %24 = phi i64 [ 0, %3 ], [ %22, %21 ], [ %13, %10 ]
  %25 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %24
  store i8 0, ptr %25, align 1
  %26 = load i64, ptr %5, align 8
  %27 = icmp ult i64 %26, 511
  br i1 %27, label %28, label %37

28:                                               ; preds = %23
  %29 = add nuw nsw i64 %26, 1
  store i64 %29, ptr %5, align 8
  %30 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %26
  store i8 58, ptr %30, align 1
  %31 = load i64, ptr %5, align 8
  %32 = icmp ult i64 %31, 511
  br i1 %32, label %33, label %37

33:                                               ; preds = %28
  %34 = add nuw nsw i64 %31, 1
  store i64 %34, ptr %5, align 8
  %35 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %31
  store i8 32, ptr %35, align 1
  %36 = load i64, ptr %5, align 8
  br label %37

37:                                               ; preds = %23, %28, %33
  %38 = phi i64 [ %36, %33 ], [ %31, %28 ], [ %26, %23 ]
  %39 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %38
  store i8 0, ptr %39, align 1
  call void @llvm.lifetime.end.p0(i64 56, ptr nonnull %4)
  %40 = load i8, ptr %2, align 1
  %41 = icmp eq i8 %40, 0
  br i1 %41, label %53, label %42

42:                                               ; preds = %37, %47
  %43 = phi i8 [ %51, %47 ], [ %40, %37 ]
  %44 = phi ptr [ %48, %47 ], [ %2, %37 ]
  %45 = load i64, ptr %5, align 8
  %46 = icmp ult i64 %45, 511
  br i1 %46, label %47, label %53

47:                                               ; preds = %42
  %48 = getelementptr inbounds i8, ptr %44, i64 1
  %49 = add nuw nsw i64 %45, 1
  store i64 %49, ptr %5, align 8
  %50 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %45
  store i8 %43, ptr %50, align 1
  %51 = load i8, ptr %48, align 1
  %52 = icmp eq i8 %51, 0
  br i1 %52, label %53, label %42, !llvm.loop !4

53:                                               ; preds = %42, %47, %37
  %54 = load i64, ptr %5, align 8
  %55 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  %56 = load ptr, ptr %0, align 8
  %57 = getelementptr inbounds %struct.text, ptr %5, i64 0, i32 1
  %58 = call ptr %56(i32 noundef %1, ptr noundef nonnull %57) #8
  call void @llvm.lifetime.end.p0(i64 520, ptr nonnull %5) #9
  ret ptr %58
}

declare ptr @model_status_text(i32 noundef) local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #5

declare i64 @model_workspace_bytes(ptr noundef, i32 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @launch(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = alloca %struct.job, align 8
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %5) #9
  store ptr %1, ptr %5, align 8
  %6 = getelementptr inbounds %struct.job, ptr %5, i64 0, i32 1
  store ptr %2, ptr %6, align 8
  %7 = load ptr, ptr %0, align 8
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds %struct.ort_api, ptr %8, i64 0, i32 30
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %12 = load ptr, ptr %11, align 8
  %13 = zext i32 %3 to i64
  %14 = call ptr %10(ptr noundef %12, ptr noundef nonnull @run_task, i64 noundef %13, i64 noundef 0, ptr noundef nonnull %5) #8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %26, label %16

16:                                               ; preds = %4
  %17 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  %18 = load ptr, ptr %17, align 8
  %19 = icmp eq ptr %18, null
  br i1 %19, label %25, label %20

20:                                               ; preds = %16
  %21 = load ptr, ptr %0, align 8
  %22 = load ptr, ptr %21, align 8
  %23 = getelementptr inbounds %struct.ort_api, ptr %22, i64 0, i32 24
  %24 = load ptr, ptr %23, align 8
  call void %24(ptr noundef nonnull %14) #8
  br label %26

25:                                               ; preds = %16
  store ptr %14, ptr %17, align 8
  br label %26

26:                                               ; preds = %4, %25, %20
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %5) #9
  ret void
}

declare i32 @model_run(ptr noundef, ptr noundef, ptr noundef, ptr, i64, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define internal void @run_task(ptr nocapture noundef readonly %0, i64 noundef %1) #0 {
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds %struct.job, ptr %0, i64 0, i32 1
  %5 = load ptr, ptr %4, align 8
  %6 = trunc i64 %1 to i32
  tail call void %3(ptr noundef %5, i32 noundef %6) #8
  ret void
}

; Function Attrs: nofree nosync nounwind memory(argmem: readwrite)
define internal fastcc void @add_shape(ptr nocapture noundef %0, ptr nocapture noundef readonly %1, i64 noundef %2) unnamed_addr #6 {
  %4 = alloca [24 x i8], align 16
  %5 = load i64, ptr %0, align 8
  %6 = icmp ult i64 %5, 511
  br i1 %6, label %7, label %11

7:                                                ; preds = %3
  %8 = add nuw nsw i64 %5, 1
  store i64 %8, ptr %0, align 8
  %9 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %5
  store i8 91, ptr %9, align 1
  %10 = load i64, ptr %0, align 8
  br label %11

11:                                               ; preds = %7, %3
  %12 = phi i64 [ %10, %7 ], [ %5, %3 ]
  %13 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %12
  store i8 0, ptr %13, align 1
  %14 = icmp eq i64 %2, 0
  br i1 %14, label %19, label %15

15:                                               ; preds = %11
  %16 = getelementptr inbounds i8, ptr %4, i64 23
  %17 = add i64 %2, -1
  %18 = tail call i64 @llvm.umin.i64(i64 %17, i64 7)
  br label %38

19:                                               ; preds = %89, %11
  %20 = icmp ugt i64 %2, 8
  %21 = select i1 %20, ptr @.str.17, ptr @.str.18
  %22 = load i8, ptr %21, align 1
  %23 = icmp eq i8 %22, 0
  br i1 %23, label %35, label %24

24:                                               ; preds = %19, %29
  %25 = phi i8 [ %33, %29 ], [ %22, %19 ]
  %26 = phi ptr [ %30, %29 ], [ %21, %19 ]
  %27 = load i64, ptr %0, align 8
  %28 = icmp ult i64 %27, 511
  br i1 %28, label %29, label %35

29:                                               ; preds = %24
  %30 = getelementptr inbounds i8, ptr %26, i64 1
  %31 = add nuw nsw i64 %27, 1
  store i64 %31, ptr %0, align 8
  %32 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %27
  store i8 %25, ptr %32, align 1
  %33 = load i8, ptr %30, align 1
  %34 = icmp eq i8 %33, 0
  br i1 %34, label %35, label %24, !llvm.loop !4

35:                                               ; preds = %24, %29, %19
  %36 = load i64, ptr %0, align 8
  %37 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %36
  store i8 0, ptr %37, align 1
  ret void

38:                                               ; preds = %15, %89
  %39 = phi i64 [ 0, %15 ], [ %92, %89 ]
  %40 = icmp eq i64 %39, 0
  br i1 %40, label %56, label %41

41:                                               ; preds = %38
  %42 = load i64, ptr %0, align 8
  %43 = icmp ult i64 %42, 511
  br i1 %43, label %44, label %53

44:                                               ; preds = %41
  %45 = add nuw nsw i64 %42, 1
  store i64 %45, ptr %0, align 8
  %46 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %42
  store i8 44, ptr %46, align 1
  %47 = load i64, ptr %0, align 8
  %48 = icmp ult i64 %47, 511
  br i1 %48, label %49, label %53

49:                                               ; preds = %44
  %50 = add nuw nsw i64 %47, 1
  store i64 %50, ptr %0, align 8
  %51 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %47
  store i8 32, ptr %51, align 1
  %52 = load i64, ptr %0, align 8
  br label %53

53:                                               ; preds = %49, %44, %41
  %54 = phi i64 [ %52, %49 ], [ %47, %44 ], [ %42, %41 ]
  %55 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %54
  store i8 0, ptr %55, align 1
  br label %56

56:                                               ; preds = %53, %38
  %57 = getelementptr inbounds i64, ptr %1, i64 %39
  %58 = load i64, ptr %57, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %4) #9
  %59 = tail call i64 @llvm.abs.i64(i64 %58, i1 false)
  store i8 0, ptr %16, align 1
  br label %60

60:                                               ; preds = %60, %56
  %61 = phi ptr [ %16, %56 ], [ %66, %60 ]
  %62 = phi i64 [ %59, %56 ], [ %67, %60 ]
  %63 = urem i64 %62, 10
  %64 = trunc i64 %63 to i8
  %65 = or i8 %64, 48
  %66 = getelementptr inbounds i8, ptr %61, i64 -1
  store i8 %65, ptr %66, align 1
  %67 = udiv i64 %62, 10
  %68 = icmp ult i64 %62, 10
  br i1 %68, label %69, label %60, !llvm.loop !7

69:                                               ; preds = %60
  %70 = icmp slt i64 %58, 0
  br i1 %70, label %71, label %73

71:                                               ; preds = %69
  %72 = getelementptr inbounds i8, ptr %61, i64 -2
  store i8 45, ptr %72, align 1
  br label %73

73:                                               ; preds = %71, %69
  %74 = phi i8 [ %65, %69 ], [ 45, %71 ]
  %75 = phi ptr [ %66, %69 ], [ %72, %71 ]
  br label %76

76:                                               ; preds = %73, %81
  %77 = phi i8 [ %85, %81 ], [ %74, %73 ]
  %78 = phi ptr [ %82, %81 ], [ %75, %73 ]
  %79 = load i64, ptr %0, align 8
  %80 = icmp ult i64 %79, 511
  br i1 %80, label %81, label %89

81:                                               ; preds = %76
  %82 = getelementptr inbounds i8, ptr %78, i64 1
  %83 = add nuw nsw i64 %79, 1
  store i64 %83, ptr %0, align 8
  %84 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %79
  store i8 %77, ptr %84, align 1
  %85 = load i8, ptr %82, align 1
  %86 = icmp eq i8 %85, 0
  br i1 %86, label %87, label %76, !llvm.loop !4

87:                                               ; preds = %81
  %88 = load i64, ptr %0, align 8
  br label %89

89:                                               ; preds = %76, %87
  %90 = phi i64 [ %88, %87 ], [ %79, %76 ]
  %91 = getelementptr inbounds %struct.text, ptr %0, i64 0, i32 1, i64 %90
  store i8 0, ptr %91, align 1
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %4) #9
  %92 = add nuw nsw i64 %39, 1
  %93 = icmp eq i64 %39, %18
  br i1 %93, label %19, label %38, !llvm.loop !14
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.abs.i64(i64, i1 immarg) #7

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #7

attributes #0 = { nounwind "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #3 = { "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nofree nosync nounwind memory(argmem: readwrite) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { nobuiltin nounwind "no-builtins" }
attributes #9 = { nounwind }
attributes #10 = { nobuiltin "no-builtins" }

!llvm.module.flags = !{!0, !1}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.mustprogress"}
!4 = distinct !{!4, !3}
!5 = distinct !{!5, !3}
!6 = distinct !{!6, !3}
!7 = distinct !{!7, !3}
!8 = distinct !{!8, !3}
!9 = distinct !{!9, !3}
!10 = distinct !{!10, !3}
!11 = distinct !{!11, !3}
!12 = distinct !{!12, !3}
!13 = distinct !{!13, !3}
!14 = distinct !{!14, !3}
